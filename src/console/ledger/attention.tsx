import type { ComponentChildren } from "preact";
import { formatCount, formatMoney } from "../format.ts";
import { Show, useKept } from "../load.tsx";
import { useSession } from "../session.ts";
import { useClient } from "./client.ts";
import { isBehind } from "./intake-health.ts";
import { payoutLink } from "./links.ts";
import { readPayouts } from "./payouts.tsx";
import { readReport } from "./reports.ts";
import { linkTo, useAccounts, useSelection } from "./selection.ts";

/** What somebody should do something about, whatever the period is. The intake is of now only. */
export function Attention() {
  const client = useClient();
  const { can } = useSession();
  const accounts = useAccounts();
  const { live, knownAt: known_at } = useSelection();
  const hasIntake = can("ledger:operate") && known_at === undefined;
  const found = useKept(`attention ${JSON.stringify([accounts, live, known_at])}`, async (signal) => {
    const [payouts, disputes, intake] = await Promise.all([
      readPayouts(client, { ...accounts, live, known_at, display_size: payoutsChecked }, signal),
      readReport(client, { ...accounts, live, known_at, dispute_states: ["needs_response"] }, signal),
      hasIntake ? client.getIntake({}, { signal }) : undefined,
    ]);
    return { payouts: payouts.results, disputes: disputes.groups[0]?.count ?? 0, intake };
  });
  return (
    <>
      <h2>Needs attention</h2>
      <Show of={found} name="what needs attention">
        {({ payouts, disputes, intake }) => {
          const wrong = payouts.filter(({ difference }) => Number(difference) !== 0);
          const lines: ComponentChildren[] = [
            ...wrong
              .slice(0, payoutsShown)
              .map(({ gateway_payout_id: id, gateway_account_id: account, difference }) => (
                <>
                  The payout{" "}
                  <a href={payoutLink(id, account)}>
                    <bdi>{id}</bdi>
                  </a>{" "}
                  does not add up: <span class="bad">{formatMoney(difference)}</span>
                </>
              )),
            wrong.length > payoutsShown && (
              <a href={linkTo(["payouts"], { period: "any" })}>
                {counted(wrong.length - payoutsShown, "more payout does", "more payouts do")} not add up
              </a>
            ),
            disputes > 0 && (
              <a href={linkTo(["transactions"], { period: "any", dispute_states: "needs_response" })}>
                {counted(disputes, "dispute awaits", "disputes await")} evidence
              </a>
            ),
            intake && intake.open_dead_letters > 0 && (
              <a href={linkTo(["intake"])}>
                {counted(intake.open_dead_letters, "message", "messages")} could not be stored
              </a>
            ),
            intake && isBehind(intake) && <a href={linkTo(["intake"])}>The receiver of events is behind</a>,
          ].filter(Boolean);
          if (lines.length === 0)
            return (
              <p class="quiet">
                Nothing. {payouts.length > 0 && `The newest ${payouts.length} payouts add up.`}
              </p>
            );
          return (
            <ul class="attention">
              {lines.map((line, index) => (
                <li key={index}>{line}</li>
              ))}
            </ul>
          );
        }}
      </Show>
    </>
  );
}

/** The newest payouts that are checked. */
const payoutsChecked = 50;
const payoutsShown = 5;

const counted = (count: number, one: string, several: string) =>
  `${formatCount(count)} ${count === 1 ? one : several}`;
