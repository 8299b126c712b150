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
