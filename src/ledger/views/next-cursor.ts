import type { components } from "../../../generated/ledger.ts";

type Links = components["schemas"]["NextCursorLink"];

/** The link to the next page of a list, with the other parameters of the request; undefined on the last page. */
export function viewNextCursor(url: string, query: object, cursor: string | undefined): Links | undefined {
  if (cursor === undefined) return undefined;
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const parameters = Object.fromEntries([
    ...given.map(([name, value]) => [name, String(value)]),
    ["cursor", cursor],
  ]);
  return { next_cursor: { href: `${url}?${new URLSearchParams(parameters)}` } };
}

/** The header `Link` to the next page of a list, with the other parameters of the request; no header on the last page. */
export function viewNextLink(url: string, query: object, cursor: string | undefined): { Link?: string } {
  if (cursor === undefined) return {};
  const given = Object.entries(query).filter(([name, value]) => value !== undefined && name !== "cursor");
  const parameters = given.flatMap(([name, value]) =>
    [value].flat().map((item): [string, string] => [name, String(item)]),
  );
  return { Link: `<${url}?${new URLSearchParams([...parameters, ["cursor", cursor]])}>; rel="next"` };
}
