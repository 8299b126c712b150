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

/** A schema that becomes a model has a title. Generators name one without it AnonymousSchema_1. */
const modelsHaveNames = () => ({
  Schema(schema, { location, report }) {
    const isModel = ["properties", "enum", "allOf"].some((keyword) => keyword in schema);
    if (isModel && !schema.title) report({ message: "The schema has no title.", location });
  },
});

/** Every body has an example. */
const bodiesHaveExamples = () => ({
  MediaType({ examples = {} }, { location, report }) {
    if (Object.keys(examples).length === 0) report({ message: "The body has no example.", location });
  },
});

/**
 * What generators of clients make wrong types of: a constant that is no text; values of an enum that differ only in
 * letter case; a schema that only refers to another one.
 */
const schemasCanBeGenerated = () => ({
  Schema(schema, { location, report }) {
    const values = (schema.enum ?? []).map((value) => String(value).toLowerCase());
    if ("const" in schema && typeof schema.const !== "string")
      report({ message: "Only a text can be a const; use x-const.", location: location.child("const") });
    if (new Set(values).size < values.length)
      report({ message: "Values of the enum differ only in letter case.", location: location.child("enum") });
  },
  ref(_node, { location, report }) {
    const [, name] = /^#\/components\/schemas\/([^/]+)$/.exec(location.pointer) ?? [];
    if (name !== undefined) report({ message: `${name} only refers to another schema.`, location });
  },
});

/** In Go the names of all values of named enums share one namespace. `x-enum-varnames` gives them others. */
const enumNamesAreUnique = () => ({
  Components({ schemas = {} }, { location, report }) {
    const owners = new Map();
    for (const [name, { enum: values = [], "x-enum-varnames": names = values }] of Object.entries(schemas)) {
      for (const value of names.map((one) => String(one).toUpperCase())) {
        const owner = owners.get(value);
        const message = `${owner} and ${name} both have ${value}; add x-enum-varnames.`;
        if (owner !== undefined) report({ message, location: location.child(["schemas", name]) });
        owners.set(value, name);
      }
    }
  },
});

/**
 * Go distinguishes the alternatives by the types of their members: that of the discriminator has one value. PHP has one
 * class for all alternatives: it takes the type of this member from the union, which has all values.
 */
const alternativesDiffer = () => ({
  Schema({ discriminator, oneOf = [], properties = {} }, { location, report, resolve }) {
    if (!discriminator) return;
    const name = discriminator.propertyName;
    const valuesOf = (member) => (member?.$ref === undefined ? [] : (resolve(member).node?.enum ?? []));
    const every = oneOf.map((alternative) => valuesOf(resolve(alternative).node?.properties?.[name]));
    for (const [index, values] of every.entries()) {
      if (values.length !== 1) {
        const message = `${name} must refer to an enum with one value.`;
        report({ message, location: location.child(["oneOf", index]) });
      }
    }
    const declared = new Set(valuesOf(properties[name]));
    if (!every.flat().every((value) => declared.has(value)))
      report({ message: `${name} must refer to an enum with the values of all alternatives.`, location });
  },
});

const scalarTypes = ["string", "number", "integer", "boolean", "null"];

/** Rust makes a type without values of several scalar types in anyOf. */
const scalarAlternativesAreOneOf = () => ({
  Schema({ anyOf = [] }, { location, report }) {
    if (anyOf.length > 0 && anyOf.every(({ type }) => scalarTypes.includes(type)))
      report({ message: "Alternatives of scalar types are oneOf.", location: location.child("anyOf") });
  },
});

/** The members of a schema and of the schemas in it, by name. */
function* membersOf(node, resolve, seen = new Set()) {
  const { properties = {}, items, oneOf = [], anyOf = [] } = resolve(node).node ?? {};
  if (seen.has(properties)) return;
  seen.add(properties);
  yield* Object.entries(properties);
  const inner = [...Object.values(properties), ...(items ? [items] : []), ...oneOf, ...anyOf];
  for (const one of inner) yield* membersOf(one, resolve, seen);
}

/** A generated client for Go rejects an instant or a day that also has a pattern. */
const formatsHaveNoPattern = () => ({
  Schema({ format, pattern }, { location, report }) {
    if (format && pattern)
      report({ message: "A format and a pattern exclude each other.", location: location.child("pattern") });
  },
});

/** Ruby loads no client with a control character in a pattern. PHP compares bytes, so it rejects other letters. */
const patternsHaveNoControlCharacters = () => ({
  Schema({ pattern = "" }, { location, report }) {
    if (/\p{Cc}|\\[xuc0]/u.test(pattern))
      report({
        message: "The pattern has a character by its number; use x-excluded-characters.",
        location: location.child("pattern"),
      });
  },
});

/** Kotlin names the default by its value and not by its name in x-enum-varnames, which does not compile. */
const namedValuesHaveNoDefault = () => ({
  Schema(schema, { location, report }) {
    if ("x-enum-varnames" in schema && "default" in schema)
      report({
        message: "Move the default to the parameter, beside the reference.",
        location: location.child("default"),
      });
  },
});

const typeKeywords = ["type", "$ref", "oneOf", "anyOf"];

/** Generated clients send null for a member without a type. */
const sentMembersHaveAType = () => ({
  RequestBody: {
    MediaType({ schema = {} }, { location, report, resolve }) {
      for (const [name, member] of membersOf(schema, resolve)) {
        if (!typeKeywords.some((keyword) => keyword in member))
          report({ message: `${name} has no type.`, location });
      }
    },
  },
});

/** Redocly loads the default export of a plugin. The plugin cannot be TypeScript. */
export default function contractRules() {
  const oas3 = {
    "schemas-are-described": schemasAreDescribed,
    "bodies-have-examples": bodiesHaveExamples,
    "schemas-can-be-generated": schemasCanBeGenerated,
    "enum-names-are-unique": enumNamesAreUnique,
    "alternatives-differ": alternativesDiffer,
    "scalar-alternatives-are-one-of": scalarAlternativesAreOneOf,
    "formats-have-no-pattern": formatsHaveNoPattern,
    "patterns-have-no-control-characters": patternsHaveNoControlCharacters,
    "named-values-have-no-default": namedValuesHaveNoDefault,
    "sent-members-have-a-type": sentMembersHaveAType,
  };
  const async3 = { "members-have-a-meaning": membersHaveAMeaning, "models-have-names": modelsHaveNames };
  return { id: "contract", rules: { oas3, async3 } };
}
