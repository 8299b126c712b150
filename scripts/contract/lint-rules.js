/** Rules for the contracts that redocly.yaml cannot express. */

/** Every named schema and every member has a description. */
const schemasAreDescribed = () => ({
  Schema(schema, { location, report }) {
    const [, name] = /\/(?:schemas|properties)\/([^/]+)$/.exec(location.pointer) ?? [];
    if (name !== undefined && !schema.description)
      report({ message: `${name} has no description.`, location });
  },
});

/** Every member of a message has a description of its own, also if it is a reference: the page shows it as the meaning. */
const membersHaveAMeaning = () => ({
  Schema({ properties = {} }, { location, report }) {
    for (const [name, { description }] of Object.entries(properties))
      if (!description)
        report({
          message: `${name} has no description of its own.`,
          location: location.child(["properties", name]),
        });
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
  return {
    id: "contract",
    rules: {
      oas3: { "schemas-are-described": schemasAreDescribed, "bodies-have-examples": bodiesHaveExamples },
      async3: { "members-have-a-meaning": membersHaveAMeaning },
    },
  };
}
