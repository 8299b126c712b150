// Shows the contract of the service that serves this page, and lets it be tried there.

const contract = await (await fetch("/openapi.json")).json();

// The page may ask its own service only.
contract.servers = [{ url: "/", description: "this service" }];

// Forms are filled with the examples of parameters; a search by all of them at once would find nothing, so that those
// which can be left out tell theirs beside the field instead.
const parameters = [
  ...Object.values(contract.components?.parameters ?? {}),
  ...Object.values(contract.paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => operation.parameters ?? []),
  ),
];
for (const parameter of parameters) {
  if (parameter.required || parameter.example === undefined) continue;
  parameter.description = `${parameter.description ?? ""}\n\nFor example \`${[parameter.example].flat().join(",")}\`.`;
  delete parameter.example;
}

// Tables that a contract has under names of its own (x-…) follow its description.
const cell = (value) => String(value ?? "").replaceAll("|", "\\|");
function describeTable([title, { description = "", rows }]) {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const lines = [columns, columns.map(() => "---"), ...rows.map((row) => columns.map((name) => row[name]))];
  return `### ${title}\n\n${description}\n\n${lines.map((line) => `| ${line.map(cell).join(" | ")} |`).join("\n")}`;
}
for (const [name, own] of Object.entries(contract)) {
  if (!name.startsWith("x-")) continue;
  const tables = Object.entries(own).filter(([, table]) => table.rows !== undefined);
  const parts = [`## ${name}`, own.description, ...tables.map(describeTable)];
  contract.info.description += `\n\n${parts.join("\n\n")}`;
}

window.SwaggerUIBundle({
  spec: contract,
  dom_id: "#contract",
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
});
