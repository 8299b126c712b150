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

/** A schema and the schemas in it, each with its place and once. `seen` has the pointers of those that are not visited again. */
function* schemasIn(schema, place, resolve, seen = new Set()) {
  const { node, location } = schema.$ref === undefined ? { node: schema, location: place } : resolve(schema);
  if (node === undefined || seen.has(location.absolutePointer)) return;
  seen.add(location.absolutePointer);
  yield { node, location };
  const { properties = {}, items, oneOf = [], anyOf = [] } = node;
  const inner = [
    ...Object.entries(properties).map(([name, one]) => [one, "properties", name]),
    ...(items ? [[items, "items"]] : []),
    ...oneOf.map((one, index) => [one, "oneOf", index]),
    ...anyOf.map((one, index) => [one, "anyOf", index]),
  ];
  for (const [one, ...path] of inner) yield* schemasIn(one, location.child(path), resolve, seen);
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
      for (const { node } of schemasIn(schema, location.child("schema"), resolve)) {
        for (const [name, member] of Object.entries(node.properties ?? {})) {
          if (!typeKeywords.some((keyword) => keyword in member))
            report({ message: `${name} has no type.`, location });
        }
      }
    },
  },
});

/** By type: true if a value has a bound by these keywords. A format counts if its values have one. */
const boundsOf = {
  string: ({ maxLength, format }) => maxLength !== undefined || /^date(-time)?$/.test(format),
  array: ({ maxItems }) => maxItems !== undefined,
  integer: ({ minimum, maximum, format }) =>
    /^int(32|64)$/.test(format) || (minimum !== undefined && maximum !== undefined),
};

/** The type of a schema whose values have no bound, if it is one. */
function unboundedType(schema) {
  if ("enum" in schema || "const" in schema || "x-const" in schema) return undefined;
  return [schema.type].flat().find((type) => boundsOf[type]?.(schema) === false);
}

/**
 * Each text, list and integer of a response has a bound, by which a client chooses its types and columns. Those without one
 * are listed in .redocly.lint-ignore.yaml.
 */
function responsesAreBounded() {
  // Many responses have the same schema.
  const seen = new Set();
  return {
    Response: {
      Schema(schema, { location, report, resolve }) {
        for (const found of schemasIn(schema, location, resolve, seen)) {
          const type = unboundedType(found.node);
          if (type)
            report({
              message: `A value of type ${type} in a response has no bound.`,
              location: found.location,
            });
        }
      },
    },
  };
}

/** The responses that no operation lists are responses, too. */
const withGeneralResponses = (types) => ({
  ...types,
  Root: {
    ...types.Root,
    properties: { ...types.Root.properties, "x-general-responses": "GeneralResponses" },
  },
  GeneralResponses: { properties: {}, additionalProperties: () => "Response" },
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
    "responses-are-bounded": responsesAreBounded,
  };
  const async3 = { "members-have-a-meaning": membersHaveAMeaning, "models-have-names": modelsHaveNames };
  return { id: "contract", rules: { oas3, async3 }, typeExtension: { oas3: withGeneralResponses } };
}
