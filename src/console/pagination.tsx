import { Button } from "./elements.tsx";
import { fragmentOf, type Place } from "./fragment.ts";
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
