import { ledgerContract } from "../src/contract/contracts.ts";
import type { Parameter } from "../src/contract/operations.ts";
import { bodyViolation, closeObjects, mediaTypeOf } from "../src/contract/response-check.ts";
import { contractCompiler } from "../src/contract/validation.ts";
import { parseJson } from "../src/values/json.ts";

interface Webhook {
  post: { parameters: Parameter[]; requestBody: { content: Record<string, { schema: object }> } };
}

const closed = closeObjects(ledgerContract);
const compile = contractCompiler(closed);
const { eventStored } = closed["x-webhooks"] as { eventStored: Webhook };
const { parameters, requestBody } = eventStored.post;

/** How a request to a webhook violates the contract of the ledger. Undefined if it conforms. Header names are in lower case. */
export function deliveryViolation(headers: Record<string, unknown>, body: string): string | undefined {
  for (const { name, required, schema } of parameters) {
    const value = headers[name];
    if (value === undefined ? required : !conforms(schema, String(value)))
      return `the header ${name} is ${value}`;
  }
  const type = mediaTypeOf(headers);
  const content = requestBody.content[type];
  if (!content) return `the media type ${type} is not declared`;
  return bodyViolation(compile(content.schema), parseJson(body));
}

const conforms = (schema: Parameter["schema"], text: string) =>
  compile(schema)(schema.type === "integer" ? Number(text) : text);
