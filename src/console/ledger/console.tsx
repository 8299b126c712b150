import type { ComponentType } from "preact";
import { openConsole } from "../console.tsx";
import { showTimesIn } from "../format.ts";
import type { Parameters, Place } from "../fragment.ts";
import { Agreements } from "./agreements.tsx";
import { readScopes as scopes } from "./client.ts";
import { Intake } from "./intake.tsx";
import { AsKnown } from "./known.tsx";
import { Overview } from "./overview.tsx";
import { Payouts } from "./payouts.tsx";
import { keptParameters, readSelection, SelectionContext } from "./selection.ts";
import { LaterChoices, type Part, SelectionBar } from "./selection-bar.tsx";
import { Transactions } from "./transactions.tsx";

/**
 * A view below the bar of its selection. A path with a second segment is one thing, which has no selection but the zone and
 * when it was known.
 */
const selected =
  (View: ComponentType<Place>, parts: Part[], defaults: Parameters = {}) =>
  (place: Place) => {
    const hasPast = parts.includes("known");
    const selected = readSelection(place.parameters, defaults);
    const selection = hasPast ? selected : { ...selected, knownAt: undefined, known: "now" };
    showTimesIn(selection.zone);
    return (
      <SelectionContext.Provider value={selection}>
        <SelectionBar place={place} parts={place.path.length > 1 ? [] : parts} />
        <AsKnown place={place}>
          <View {...place} />
        </AsKnown>
        <LaterChoices place={place} parts={parts} />
      </SelectionContext.Provider>
    );
  };

const overview = selected(Overview, ["accounts", "period", "live", "known"], {
  period: "this-month",
  live: "true",
});
const transactions = selected(Transactions, ["accounts", "period", "live", "known"]);
const payouts = selected(Payouts, ["accounts", "period", "live", "known"]);
const agreements = selected(Agreements, ["accounts", "live"]);
const intake = selected(Intake, []);

openConsole(
  [
    { name: "", title: "Overview", isLinked: true, scopes, component: overview },
    { name: "transactions", title: "Transactions", isLinked: true, scopes, component: transactions },
    { name: "payouts", title: "Payouts", isLinked: true, scopes, component: payouts },
    { name: "agreements", title: "Agreements", isLinked: true, scopes, component: agreements },
    { name: "intake", title: "Intake", isLinked: true, scopes: ["ledger:operate"], component: intake },
  ],
  keptParameters,
);
