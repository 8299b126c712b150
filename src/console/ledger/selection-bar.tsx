import { useState } from "preact/hooks";
import type { LedgerClient } from "../../client/client.ts";
import { Field, Select } from "../form.tsx";
import { type Parameters, type Place, withParameters } from "../fragment.ts";
import { goTo } from "../history.ts";
import { useLoaded } from "../load.tsx";
import { useSession } from "../session.ts";
import { useClient } from "./client.ts";
import { boundsOf, dayOf, periodText, presets } from "./periods.ts";
import { useSelection } from "./selection.ts";

/** A part of the selection that a view uses. */
export type Part = "accounts" | "period" | "live" | "known";

/** What the view is a part of. A change shows the view of another selection at once. */
export function SelectionBar({ place, parts }: { place: Place; parts: Part[] }) {
  const { accounts, live, zone, known } = useSelection();
  const change = (changed: Parameters) => goTo(withParameters(place, changed));
  return (
    <section class="selection" aria-label="Selection">
      {parts.includes("accounts") && (
        <AccountsField
          key={accounts.join()}
          accounts={accounts}
          onChange={(account_id) => change({ account_id })}
        />
      )}
      {parts.includes("period") && <PeriodField onChange={(period) => change({ period })} />}
      {parts.includes("live") && (
        <Select
          label="Money"
          value={String(live ?? "any")}
          options={{ any: "Real and test", true: "Real", false: "Test" }}
          onChange={(live) => change({ live })}
        />
      )}
      <span class="quiet">
        Times in {zone}
        {place.parameters.has("known_at") && `, as known ${known}`}
      </span>
    </section>
  );
}

function AccountsField({ accounts, onChange }: { accounts: string[]; onChange: (text: string) => void }) {
  const [isOffered, setOffered] = useState(false);
  return (
    <>
      <Field
        label="Accounts"
        name="account_id"
        list="accounts"
        maxLength={25_600}
        defaultValue={accounts.join(", ")}
        placeholder={useSession().accounts ? "All of yours" : "All"}
        onFocus={() => setOffered(true)}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {isOffered && <KnownAccounts />}
    </>
  );
}

/** The accounts that have transactions, to choose from. */
function KnownAccounts() {
  const client = useClient();
  const own = useSession().accounts;
  const { value = own ?? [] } = useLoaded("accounts", (signal) => readAccounts(client, own, signal));
  return <Choices id="accounts" choices={value} />;
}

async function readAccounts(client: LedgerClient, own: string[] | undefined, signal: AbortSignal) {
  if (own) return own;
  const search = { group_by: ["account" as const], override_account_id_restriction: true };
  const { groups } = await client.getTransactionReport(search, { signal });
  return groups.flatMap(({ account }) => account ?? []);
}

/** The period by its name, or its first and last day. */
function PeriodField({ onChange }: { onChange: (period: string) => void }) {
  const { periodName, period, zone } = useSelection();
  const isNamed = periodName === "any" || Object.hasOwn(presets, periodName);
  const [isOpen, setOpen] = useState(!isNamed);
  const [problem, setProblem] = useState(
    isNamed || period ? "" : "This period is not known, so all time is shown.",
  );
  const choose = (name: string) => {
    setOpen(name === "days");
    if (name !== "days") onChange(name);
  };
  const chooseDays = (text: string) => {
    const days = text.trim().split(/\s+to\s+|\s*\.\.\s*/);
    const chosen = periodText(days.length === 1 ? [...days, ...days] : days);
    const isKnown = boundsOf(chosen, dayOf(new Date(), zone)) !== undefined;
    setProblem(
      isKnown
        ? ""
        : "Write days of the years 1900 to 2199 as 2026-03-01 to 2026-03-31, the earlier one first.",
    );
    if (isKnown) onChange(chosen);
  };
  return (
    <>
      <Select
        label="Period"
        value={isOpen || !isNamed ? "days" : periodName}
        options={periods}
        onChange={choose}
      />
      {isOpen && (
        <Field
          key={periodName}
          label="Days"
          name="days"
          size={24}
          maxLength={40}
          placeholder="2026-03-01 to 2026-03-31"
          defaultValue={period?.bounds.join(" to ")}
          onChange={({ currentTarget }) => chooseDays(currentTarget.value)}
        />
      )}
      {problem && (
        <span class="bad" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}

const periods = {
  any: "All time",
  ...Object.fromEntries(Object.entries(presets).map(([name, { title }]) => [name, title])),
  days: "Two days …",
};

/** The choices that are rare: of the time zone, and of the day or the position at which the view was known. */
export function LaterChoices({ place, parts }: { place: Place; parts: Part[] }) {
  const { zone, knownAt = "" } = useSelection();
  const [isOffered, setOffered] = useState(false);
  return (
    <p class="zone">
      <Field
        key={zone}
        label="Times and days are in the zone"
        name="time_zone"
        list="zones"
        maxLength={100}
        defaultValue={zone}
        onFocus={() => setOffered(true)}
        onChange={({ currentTarget }) =>
          goTo(withParameters(place, { time_zone: currentTarget.value.trim() }))
        }
      />
      {isOffered && <Choices id="zones" choices={["UTC", ...Intl.supportedValuesOf("timeZone")]} />}
      {parts.includes("known") && (
        <Field
          key={knownAt}
          label="As known at the end of a day, or at a position"
          name="known_at"
          maxLength={4000}
          defaultValue={knownAt}
          placeholder="Now"
          onChange={({ currentTarget }) =>
            goTo(withParameters(place, { known_at: currentTarget.value.trim() }))
          }
        />
      )}
    </p>
  );
}

/** What a field offers. It is rendered when the field has the focus, since it can be long. */
const Choices = ({ id, choices }: { id: string; choices: string[] }) => (
  <datalist id={id}>
    {choices.map((choice) => (
      <option key={choice} value={choice} />
    ))}
  </datalist>
);
