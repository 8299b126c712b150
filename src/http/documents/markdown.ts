import { describeSchema, type JsonSchema } from "../../contract/describe-schema.ts";
import type { Contract, DeclaredResponse, Operation, Parameter } from "../../contract/operations.ts";
import { resolved } from "../../contract/validation.ts";
import { STATUS_CODES } from "../node-http.ts";
import { problemsPath } from "../problem.ts";
import { kindsOf, type ProblemKind } from "./problem-pages.ts";

type Part = string | false | undefined;

/** Blocks of Markdown, with a blank line between them. Empty ones are left out. */
export const blocks = (...parts: Part[]): string =>
  `${parts.flatMap((part) => (part ? part.trim() : [])).join("\n\n")}\n`;

/** A block of code. Its fence is longer than any in the code. */
export const fenced = (code: string, language = ""): string =>
  `\`\`\`\`${language}\n${code.trim()}\n\`\`\`\``;

/** Text for a line, such as an item of a list. */
export const oneLine = (text = ""): string => text.trim().replaceAll(/\s+/g, " ");

/** A contract as Markdown: what its page shows, without the tables of its extensions. */
export const contractMarkdown = (contract: Contract, operations: Operation[]): string =>
  blocks(
    `# ${contract.info.title} ${contract.info.version}`,
    contract.info.description,
    "## Operations",
    "`/openapi.json` has the schemas, the examples and the tables (`x-…`). Errors are [problems](problems).",
    ...operations.map((operation) => operationMarkdown(contract, operation)),
  );

function operationMarkdown(contract: Contract, operation: Operation): string {
  const { operationId, method, path, summary, description, parameters, body, security, responses } =
    operation;
  const scopes = security.flatMap((one) => Object.values(one).flat());
  const [successes, errors] = [true, false].map((isSuccess) =>
    Object.entries(responses).filter(([status]) => status < "400" === isSuccess),
  ) as [Responses, Responses];
  return blocks(
    `### ${method} ${path}`,
    `${summary} (\`${operationId}\`).${scopes.length > 0 ? ` Scope: ${codes(scopes, " or ")}.` : ""}`,
    description,
    parameters.length > 0 &&
      `Parameters:\n\n${parameters.map((one) => parameterLine(contract, one)).join("\n")}`,
    body && `Body: JSON, ${body.required ? "required" : "optional"}${schemaName(body.schema)}.`,
    `Responses:\n\n${[...successes.map(responseLine), `- ${errors.map(([status]) => status).join(", ")}: errors`].join("\n")}`,
  );
}

type Responses = [status: string, response: DeclaredResponse][];

function responseLine([status, { description, content = {} }]: Responses[number]): string {
  const types = Object.entries(content).map(([type, { schema }]) => `\`${type}\`${schemaName(schema)}`);
  return `- ${status}: ${[oneLine(description), ...types].join(" ")}`;
}

const codes = (names: string[], between = ", ") =>
  [...new Set(names)].map((name) => `\`${name}\``).join(between);

function parameterLine(
  contract: Contract,
  { name, in: place, required, description, schema }: Parameter,
): string {
  const full = resolved(contract, schema) as JsonSchema;
  const type = full.items ? `a list of: ${describeSchema(full.items)}` : describeSchema(full);
  return `- \`${name}\` (${place}${required ? ", required" : ""}, ${type}): ${oneLine(description)}`;
}

function schemaName(schema: object): string {
  const [, name] = /\/schemas\/(\w+)$/.exec((schema as { $ref?: string }).$ref ?? "") ?? [];
  return name === undefined ? "" : ` (\`${name}\`)`;
}

/** The list of the kinds of problems as Markdown. */
export const problemListMarkdown = (contract: Contract): string =>
  blocks(
    `# Problems – ${contract.info.title}`,
    "The `type` of a problem document (RFC 9457) is one of these. It is the address of a page about the problem.",
    Object.entries(kindsOf(contract))
      .map(
        ([name, { status, title }]) =>
          `- [${problemsPath}${name}](problems/${name}), status ${status}: ${title}`,
      )
      .join("\n"),
  );

/** The page of a kind of problem as Markdown. */
export function problemMarkdown(contract: Contract, name: string): string {
  const { status, title, description, advice, example } = kindsOf(contract)[name] as ProblemKind;
  return blocks(
    `# ${title}`,
    `\`${problemsPath}${name}\`, status ${status} ${STATUS_CODES[status]}`,
    description,
    "## What to do",
    advice,
    "## Example",
    fenced(JSON.stringify(example, null, 2), "json"),
  );
}

/** The file by which a model finds what the service publishes (llmstxt.org). */
export const llmsText = (
  { info }: Contract,
  { hasQueue, hasMcp }: { hasQueue: boolean; hasMcp: boolean },
): string =>
  blocks(
    `# ${info.title}`,
    `> ${oneLine(info.summary)}`,
    "The pages are Markdown for requests with `Accept: text/markdown`.",
    "## Documentation",
    [
      "- [Contract](docs): every operation with its parameters and responses",
      "- [Contract as OpenAPI](openapi.json): the same with schemas and examples; also as [YAML](openapi.yaml)",
      "- [Problems](problems): the kinds of errors, each with a page that says what to do",
      ...(hasQueue
        ? ["- [Queue](docs/queue): the messages of the queue; as AsyncAPI in [YAML](asyncapi.yaml)"]
        : []),
    ].join("\n"),
    hasMcp && "## Tools",
    hasMcp && "- [Model Context Protocol](mcp): tools for models, by `POST`",
  );
