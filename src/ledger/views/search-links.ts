import type { components } from "../../../generated/ledger.ts";

export interface SearchedPage {
  /** Scheme and authority the caller used. */
  origin: string;
  /** The parameters that were given, in the order links have them, without those of paging. */
  filters: [name: string, value: string][];
  page: number;
  displaySize: number;
  total: number;
}

/** Links to the pages of a search. They keep every filter, so that following them visits each match once. */
export function viewSearchLinks(searched: SearchedPage): components["schemas"]["SearchLinks"] {
  const { origin, filters, page, displaySize, total } = searched;
  const last = lastPage(total, displaySize);
  const link = (number: number) => {
    const query = new URLSearchParams([
      ...filters,
      ["page", String(number)],
      ["display_size", String(displaySize)],
    ]);
    return { href: `${origin}/v1/transaction/?${query}` };
  };
  return {
    self: link(page),
    first_page: link(1),
    last_page: link(last),
    prev_page: page === 1 ? undefined : link(Math.min(page - 1, last)),
    next_page: page < last ? link(page + 1) : undefined,
  };
}

export const lastPage = (total: number, displaySize: number) => Math.max(1, Math.ceil(total / displaySize));
