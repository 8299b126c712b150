// Renders the contract of the service that serves this page.

const contract = await (await fetch("/openapi.json")).json();

// The policy of the page allows requests to its own service only.
contract.servers = [{ url: "/", description: "this service" }];

// The forms are filled with the examples of parameters. A search with all of them finds nothing, so optional
// parameters have their example in the description instead.
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
