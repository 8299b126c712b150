import { fragmentOf } from "./fragment.ts";
import { goTo, previousPage } from "./history.ts";

interface Props {
  /** The place of the list. Its parameters are those of this page, with its cursor unless it is the first page. */
  path: string[];
  parameters: URLSearchParams;
  /** The cursor of the next page, if there is one. */
  next: string | undefined;
}

/** Links to the other pages of a list. Each page has an address of its own, so that going back keeps the place. */
export function Pagination({ path, parameters, next }: Props) {
  const isFirst = !parameters.has("cursor");
  if (isFirst && next === undefined) return null;
  const fragmentOfPage = (cursor?: string) => fragmentOf(path, { ...Object.fromEntries(parameters), cursor });
  return (
    <nav class="pages" aria-label="Pages">
      {!isFirst && <a href={fragmentOfPage()}>First page</a>}
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
