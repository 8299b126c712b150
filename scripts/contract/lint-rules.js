/** Rules for the contracts that redocly.yaml cannot express. */

/** Every named schema and every member has a description. */
const schemasAreDescribed = () => ({
  Schema(schema, { location, report }) {
    const [, name] = /\/(?:schemas|properties)\/([^/]+)$/.exec(location.pointer) ?? [];
    if (name !== undefined && !schema.description)
      report({ message: `${name} has no description.`, location });
  },
});

/** Every body has an example. */
const bodiesHaveExamples = () => ({
  MediaType({ examples = {} }, { location, report }) {
    if (Object.keys(examples).length === 0) report({ message: "The body has no example.", location });
  },
});

/** Redocly loads the default export of a plugin. The plugin cannot be TypeScript. */
export default function contractRules() {
  const rules = { "schemas-are-described": schemasAreDescribed, "bodies-have-examples": bodiesHaveExamples };
  return { id: "contract", rules: { oas3: rules } };
}
