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

window.SwaggerUIBundle({
  spec: contract,
  dom_id: "#contract",
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
});

/** An element with what belongs into it: elements and texts. */
function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}

/** A text in which names stand between backticks. */
const prose = (text = "") =>
  element("p", ...text.split("`").map((part, index) => (index % 2 === 0 ? part : element("code", part))));

function table(rows) {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const header = element("tr", ...columns.map((column) => element("th", column)));
  const cells = (row) =>
    columns.map((column) => element("td", ...prose(String(row[column] ?? "")).childNodes));
  return element("table", header, ...rows.map((row) => element("tr", ...cells(row))));
}

// Tables that the contract has under names of its own (x-…) follow its operations.
for (const [name, own] of Object.entries(contract).filter(([name]) => name.startsWith("x-"))) {
  const tables = Object.entries(own).filter(([, part]) => part.rows !== undefined);
  const parts = tables.flatMap(([title, { description, rows }]) => [
    element("h2", title),
    prose(description),
    table(rows),
  ]);
  const article = element("article", element("h1", name), prose(own.description), ...parts);
  article.id = name;
  document.body.append(article);
}
