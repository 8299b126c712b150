import { Button } from "./elements.tsx";
import { fragmentOf, type Place, withParameters } from "./fragment.ts";
import { goTo, previousPage } from "./history.ts";

/**
 * Links to the other pages of a list: `next` is the cursor of the next page, if there is one. Each page has an address of
 * its own, so that going back keeps the place.
 */
export function Pagination({ path, parameters, next }: Place & { next: string | undefined }) {
  const isFirst = !parameters.has("cursor");
  if (isFirst && next === undefined) return null;
  const fragmentOfPage = (cursor?: string) => fragmentOf(path, { ...Object.fromEntries(parameters), cursor });
  return (
    <nav class="pages" aria-label="Pages">
      {!isFirst && <a href={fragmentOfPage()}>First page</a>}
      {!isFirst && previousPage() !== undefined && (
        <Button onClick={() => history.back()}>Previous page</Button>
      )}
      {next !== undefined && (
        <Button onClick={() => goTo(fragmentOfPage(next), location.hash)}>Next page</Button>
      )}
    </nav>
  );
}

/** Links to the pages of a list whose pages have numbers, of which `last` is the number of the last one. */
export function PagesByNumber({ page, last, ...place }: Place & { page: number; last: number }) {
  if (last <= 1) return null;
  const fragmentOfPage = (number: number) =>
    withParameters(place, { page: number > 1 ? String(number) : undefined });
  return (
    <nav class="pages" aria-label="Pages">
      {page > 1 && <a href={fragmentOfPage(page - 1)}>Previous page</a>}
      {page < last && <a href={fragmentOfPage(page + 1)}>Next page</a>}
      <span class="quiet">
        Page {page} of {last}
      </span>
    </nav>
  );
}
