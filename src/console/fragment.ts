/**
 * The place in the console, from the fragment of the address bar, such as `#/transactions?state=success`. The fragment is
 * not sent to the service, so the texts of a search are in no log.
 */
export interface Place {
  /** The decoded segments of the path. */
  path: string[];
  parameters: URLSearchParams;
}

/** Reads a fragment. A malformed escape is kept as it is. */
export function readFragment(fragment: string): Place {
  const [path = "", query = ""] = fragment.replace(/^#?\/?/, "").split(/\?(.*)/s, 2);
  return {
    path: path.split("/").filter(Boolean).map(decode),
    parameters: new URLSearchParams(query),
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export type Parameters = Record<string, string | string[] | undefined>;

/** The fragment of a place. Empty and undefined parameters are left out; a list becomes one value, joined by commas. */
export function fragmentOf(path: string[], parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    const text = Array.isArray(value) ? value.join(",") : (value ?? "");
    if (text !== "") query.set(name, text);
  }
  const search = String(query);
  return `#/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

/** The fragment of a place with other values of some parameters. It is the first page of a list. */
export const withParameters = ({ path, parameters }: Place, changed: Parameters): string =>
  fragmentOf(path, { ...Object.fromEntries(parameters), cursor: undefined, ...changed });
