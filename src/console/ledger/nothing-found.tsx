import { Empty } from "../elements.tsx";
import { linkTo, useSelection } from "./selection.ts";

interface Props {
  /** What is not there, in the singular, such as `payout`. */
  thing: string;
  /** The path of the view. */
  path: string[];
}

/** That nothing matches, with the way to more of it: all accounts, all time and all money, or the examples. */
export function NothingFound({ thing, path }: Props) {
  const { accounts, period, live, knownAt } = useSelection();
  const isPart = accounts.length > 0 || period !== undefined || live !== undefined || knownAt !== undefined;
  const everything = { account_id: undefined, period: "any", live: "any", known_at: undefined };
  return (
    <Empty>
      No {thing} matches.{" "}
      {isPart ? (
        <a href={linkTo(path, everything)}>
          Look in all accounts, all time, and real and test money{knownAt !== undefined && ", as known now"}
        </a>
      ) : (
        <>
          If the ledger is empty, <code>npm run demo</code> fills it with examples.
        </>
      )}
    </Empty>
  );
}
