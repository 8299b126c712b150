import type { JsonSchema } from "../contract/describe-schema.ts";
import type { PatchOperation } from "../contract/faults.ts";
import { type Check, onlyMeaning } from "../contract/remedy.ts";
import { convert, type Schema, splitList } from "./parameter-text.ts";

/**
 * Finds the text that a parameter should have had. A list gets one if each of its elements that are wrong has one. The
 * corrected list has the form of the given one.
 */
export function openMending(
  isValid: Check,
  declared: Record<string, Schema>,
  validated: Record<string, JsonSchema>,
) {
  const mendText = (text: unknown, schema: Schema, validation: JsonSchema) =>
    onlyMeaning(
      text,
      schema,
      (_, meant) => typeof meant !== "object" && isValid(validation, convert(String(meant), schema)),
    );
  /** Undefined if one of the texts has no meaning. */
  function mendTexts(texts: string[], items: Schema, validation: JsonSchema): string[] | undefined {
    const mended: string[] = [];
    for (const text of texts) {
      const meant = isValid(validation, convert(text, items))
        ? { value: text }
        : mendText(text, items, validation);
      if (!meant) return undefined;
      mended.push(String(meant.value));
    }
    return mended;
  }
  function mendList(given: unknown, schema: Schema, validation: JsonSchema): unknown {
    const { items = {}, commaSeparated } = schema;
    const texts = [given]
      .flat()
      .flatMap((text) => (commaSeparated ? splitList(String(text)) : [String(text)]));
    for (const reading of [texts, texts.flatMap(splitAnyList)]) {
      const mended = mendTexts(reading, items, validation.items ?? {});
      if (!mended) continue;
      const distinct = [...new Set(mended)];
      const valid = [mended, distinct].find((list) =>
        isValid(validation, convert(list, { ...schema, commaSeparated: false })),
      );
      return valid && (commaSeparated ? valid.join(",") : valid);
    }
    return undefined;
  }
  return (name: string, given: unknown): PatchOperation[] | undefined => {
    if (!Object.hasOwn(declared, name)) return undefined;
    const [schema, validation] = [declared[name] as Schema, validated[name] as JsonSchema];
    const mended =
      schema.type === "array"
        ? mendList(given, schema, validation)
        : mendText(given, schema, validation)?.value;
    const value = Array.isArray(mended) ? mended : mended === undefined ? undefined : String(mended);
    return value === undefined ? undefined : [{ op: "replace", path: `/${name}`, value }];
  };
}

/** The items of a list that has the separators of another format. */
const splitAnyList = (text: string): string[] => text.split(/\s*[,;|]\s*/).filter((item) => item !== "");
