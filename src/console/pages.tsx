import { goTo, previousPage } from "./history.ts";

interface Props {
  /** The fragment of the page with a cursor, or of the first page. */
  fragmentOfPage: (cursor: string | undefined) => string;
  /** The cursor of this page; undefined for the first one. */
  current: string | undefined;
  /** The cursor of the next page, if there is one. */
  next: string | undefined;
}

/** Links to the other pages of a list. Each page has an address of its own, so that going back keeps the place. */
export function Pages({ fragmentOfPage, current, next }: Props) {
  const isFirst = current === undefined;
  if (isFirst && next === undefined) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {!isFirst && <a href={fragmentOfPage(undefined)}>First page</a>}
      {!isFirst && previousPage() !== undefined && (
        <button type="button" onClick={() => history.back()}>
          Previous page
        </button>
      )}
      {next !== undefined && (
        <button type="button" onClick={() => goTo(fragmentOfPage(next), location.hash)}>
          Next page
        </button>
      )}
    </nav>
  );
}
