import { useState } from "preact/hooks";
import { Button } from "../elements.tsx";
import { detailOf } from "../error-words.ts";
import { Problem } from "../notice.tsx";
import { cursorIn } from "./client.ts";

type Linked = { _links?: Parameters<typeof cursorIn>[0] };

/** The pages of a list that are shown, and what shows one more, if there is one. `items` names them. */
export function useMore<Page extends Linked>(
  items: string,
  first: Page,
  readPage: (cursor: string) => Promise<Page>,
) {
  const [others, setOthers] = useState<Page[]>([]);
  const [problem, setProblem] = useState("");
  const pages = [first, ...others];
  const next = cursorIn(pages.at(-1)?._links);
  async function showMore(cursor: string) {
    try {
      setOthers([...others, await readPage(cursor)]);
      setProblem("");
    } catch (error) {
      setProblem(detailOf(error));
    }
  }
  const more = (
    <>
      {problem && (
        <Problem>
          More {items} could not be loaded: {problem}
        </Problem>
      )}
      {next !== undefined && <Button onClick={() => showMore(next)}>Show more {items}</Button>}
    </>
  );
  return { pages, more, hasMore: next !== undefined };
}
