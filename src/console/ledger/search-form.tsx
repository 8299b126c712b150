import { Details } from "../details.tsx";
import { fragmentOf } from "../fragment.ts";
import { goTo } from "../history.ts";
import { useSession } from "../session.ts";
import { disputeStatuses, listOf, paymentStatuses, refundStatuses, type Search } from "./ledger.ts";
import { statusName } from "./state.tsx";

/** The filters of a search by the names of their parameters, which are also those in the address bar. */
const texts = [
  "reference",
  "email",
  "cardholder_name",
  "first_digits_card_number",
  "last_digits_card_number",
  "state",
  "transaction_type",
  "from_date",
  "to_date",
  "from_settled_date",
  "to_settled_date",
  "gateway_transaction_id",
  "gateway_payout_id",
  "agreement_id",
  "metadata_value",
] as const;
const lists = ["card_brands", "payment_states", "refund_states", "dispute_states"] as const;

/** The filters in the address bar, without the accounts. */
export function filtersIn(parameters: URLSearchParams): Search {
  const given = [
    ...texts.map((name) => [name, parameters.get(name) || undefined]),
    ...lists.map((name) => [name, listOf(parameters.get(name))]),
    ["exact_reference_match", parameters.get("exact_reference_match") === "true" || undefined],
  ].filter(([, value]) => value !== undefined && (value as string[]).length !== 0);
  return Object.fromEntries(given) as Search;
}

/** Instants in a form are in the time zone of the reader; in the address bar they are in UTC. */
const instants = ["from_date", "to_date"];

function toLocal(instant: string | null): string {
  const date = new Date(instant ?? "");
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

const toUtc = (local: string) => (local === "" ? "" : new Date(local).toISOString());

function search(event: SubmitEvent): void {
  event.preventDefault();
  const form = new FormData(event.currentTarget as HTMLFormElement);
  const given = ["account_id", ...texts, ...lists, "exact_reference_match"].map((name) => {
    const values = form.getAll(name).map((value) => String(value).trim());
    return [name, instants.includes(name) ? values.map(toUtc) : values];
  });
  goTo(fragmentOf(["transactions"], Object.fromEntries(given) as Record<string, string[]>));
}

/** The form of a search. It is new for each address, so that it shows the search of the address. */
export function SearchForm({ parameters }: { parameters: URLSearchParams }) {
  const { accounts } = useSession();
  const text = (name: string, label: string, options: object = {}) => (
    <label>
      {label}
      <input name={name} defaultValue={parameters.get(name) ?? ""} maxLength={255} {...options} />
    </label>
  );
  const instant = (name: string, label: string) =>
    text(name, label, { type: "datetime-local", step: 1, defaultValue: toLocal(parameters.get(name)) });
  const isOpen = [...parameters.keys()].some((name) => !basic.includes(name));
  return (
    <form class="search" onSubmit={search} key={String(parameters)}>
      <div class="fields">
        {text("account_id", "Accounts", {
          placeholder: accounts ? "All of the token" : "All",
          maxLength: 25_600,
        })}
        {text("reference", "Reference")}
        {text("email", "Email", { inputMode: "email" })}
        <Choice
          name="state"
          label="State"
          options={[...new Set(allStatuses)]}
          chosen={parameters.get("state")}
        />
        {instant("from_date", "Created after")}
        {instant("to_date", "Created before")}
      </div>
      <Details summary="More filters" isOpen={isOpen}>
        {() => (
          <>
            <div class="fields">
              <Choice
                name="transaction_type"
                label="Type"
                options={["PAYMENT", "REFUND", "DISPUTE"]}
                chosen={parameters.get("transaction_type")}
              />
              {text("cardholder_name", "Name on the card")}
              {text("first_digits_card_number", "First digits of the card", { inputMode: "numeric" })}
              {text("last_digits_card_number", "Last digits of the card", { inputMode: "numeric" })}
              {text("card_brands", "Card brands", { placeholder: "visa, master-card", maxLength: 25_600 })}
              {text("from_settled_date", "Settled from", { type: "date" })}
              {text("to_settled_date", "Settled to", { type: "date" })}
              {text("gateway_payout_id", "Payout")}
              {text("gateway_transaction_id", "Provider's id")}
              {text("agreement_id", "Agreement")}
              {text("metadata_value", "Metadata value")}
              <label class="check">
                <input
                  type="checkbox"
                  name="exact_reference_match"
                  value="true"
                  defaultChecked={parameters.get("exact_reference_match") === "true"}
                />
                The reference is the whole reference
              </label>
            </div>
            <Choices
              name="payment_states"
              label="Payments in state"
              options={paymentStatuses}
              parameters={parameters}
            />
            <Choices
              name="refund_states"
              label="Refunds in state"
              options={refundStatuses}
              parameters={parameters}
            />
            <Choices
              name="dispute_states"
              label="Disputes in state"
              options={disputeStatuses}
              parameters={parameters}
            />
          </>
        )}
      </Details>
      <button type="submit">Search</button> <a href="#/transactions">Clear</a>
    </form>
  );
}

const basic = ["account_id", "reference", "email", "state", "from_date", "to_date", "cursor"];
const allStatuses: string[] = [...paymentStatuses, ...disputeStatuses];

interface ChoiceProps {
  name: string;
  label: string;
  options: string[];
  chosen: string | null;
}

const Choice = ({ name, label, options, chosen }: ChoiceProps) => (
  <label>
    {label}
    <select name={name}>
      <option value="">Any</option>
      {options.map((option) => (
        <option key={option} value={option} selected={option === chosen}>
          {statusName(option)}
        </option>
      ))}
    </select>
  </label>
);

interface ChoicesProps {
  name: string;
  label: string;
  options: readonly string[];
  parameters: URLSearchParams;
}

function Choices({ name, label, options, parameters }: ChoicesProps) {
  const chosen = listOf(parameters.get(name));
  return (
    <fieldset>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option} class="check">
          <input type="checkbox" name={name} value={option} defaultChecked={chosen.includes(option)} />
          {statusName(option)}
        </label>
      ))}
    </fieldset>
  );
}
