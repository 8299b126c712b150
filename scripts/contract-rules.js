/** A rule for the contracts that cannot be said in redocly.yaml: each named schema and each member tells what it is. */
const schemasAreDescribed = () => ({
  Schema(schema, { location, report }) {
    const [, name] = /\/(?:schemas|properties)\/([^/]+)$/.exec(location.pointer) ?? [];
    if (name !== undefined && !schema.description)
      report({ message: `${name} has no description.`, location });
  },
});

/** Redocly loads a plugin by its default export, and not from TypeScript. */
export default function contractRules() {
  return { id: "contract", rules: { oas3: { "schemas-are-described": schemasAreDescribed } } };
}
