/** Rules for the contracts that cannot be said in redocly.yaml. */

/** Each named schema and each member tells what it is. */
const schemasAreDescribed = () => ({
  Schema(schema, { location, report }) {
    const [, name] = /\/(?:schemas|properties)\/([^/]+)$/.exec(location.pointer) ?? [];
    if (name !== undefined && !schema.description)
      report({ message: `${name} has no description.`, location });
  },
});

/** Each body is shown by an example. */
const bodiesHaveExamples = () => ({
  MediaType({ examples = {} }, { location, report }) {
    if (Object.keys(examples).length === 0) report({ message: "There is no example.", location });
  },
});

/** Redocly loads a plugin by its default export, and not from TypeScript. */
export default function contractRules() {
  const rules = { "schemas-are-described": schemasAreDescribed, "bodies-have-examples": bodiesHaveExamples };
  return { id: "contract", rules: { oas3: rules } };
}
