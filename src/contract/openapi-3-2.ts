import { type Document, type Node, visit } from "yaml";
import { queryKey } from "./operations.ts";

/** The names that OpenAPI 3.2 has for extensions of a contract in OpenAPI 3.1. */
const names: Record<string, string> = {
  "x-webhooks": "webhooks",
  [queryKey]: "query",
  "x-item-schema": "itemSchema",
};

/**
 * Makes a contract in OpenAPI 3.1 one in OpenAPI 3.2, which has a place for operations with the method QUERY and for the items
 * of streams. A stream then has no schema as a text.
 */
export function toOpenApi32(document: Document): void {
  document.set("openapi", "3.2.0");
  visit(document.contents as Node, {
    Pair(_, pair) {
      const key = pair.key as { value?: string };
      const name = names[key.value ?? ""];
      if (name !== undefined) key.value = name;
    },
    Map(_, map) {
      if (map.has("x-item-schema")) map.delete("schema");
    },
  });
}
