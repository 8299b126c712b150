/**
 * Paths with doubled slashes, as clients send them whose base URL ends with a slash. They are those with one slash, unless
 * a name is empty: an empty name is no name, and no other one may take its place.
 */
export function openDoubledSlashes() {
  const forms = new Map<string, RegExp>();
  return {
    /** Adds the path of a route, with its parameters as `:name`. */
    add(route: string): void {
      if (!forms.has(route)) forms.set(route, formOf(route));
    },
    /** The target with one slash each, if it is that of a route. */
    merge(target: string): string {
      if (!target.includes("//")) return target;
      const end = target.search(/[?#]|$/);
      const path = target.slice(0, end);
      const isKnown = [...forms.values()].some((form) => form.test(path));
      return isKnown ? path.replaceAll(/\/{2,}/g, "/") + target.slice(end) : target;
    },
  };
}

/** Before a fixed segment there can be several slashes, before a name there is one. */
function formOf(route: string): RegExp {
  const segments = route.split("/").filter(Boolean);
  const forms = segments.map((segment) =>
    segment.startsWith(":") ? "/[^/]+" : `/+${segment.replaceAll(/[^\w]/g, "\\$&")}`,
  );
  const end = segments.at(-1)?.startsWith(":") ? "/?" : "/*";
  return new RegExp(`^${forms.join("")}${end}$`);
}
