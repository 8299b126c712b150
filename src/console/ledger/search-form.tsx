import { Details } from "../elements.tsx";
import { Field, type FieldProps, Form } from "../form.tsx";
import { fragmentOf } from "../fragment.ts";
import { goTo } from "../history.ts";
import { AccountsField } from "./accounts.tsx";
import { listOf, type Search } from "./client.ts";
import { disputeStatuses, paymentStatuses, refundStatuses, statusName } from "./state.tsx";

interface Choice {
  name: string;
  label: string;
  options: string[];
}

/** A filter: a text or, with options, one of them. Its name is that of the parameter, also in the address bar. */
type Filter = FieldProps | Choice;

const basicFilters: Filter[] = [
  { name: "reference", label: "Reference" },
  { name: "email", label: "Email", inputMode: "email" },
  { name: "state", label: "State", options: [...new Set<string>([...paymentStatuses, ...disputeStatuses])] },
  { name: "from_date", label: "Created after", type: "datetime-local", step: 1 },
  { name: "to_date", label: "Created before", type: "datetime-local", step: 1 },
];

/** The greatest length of a text that is a list. */
const listMax = 25_600;

const moreFilters: Filter[] = [
  { name: "transaction_type", label: "Type", options: ["PAYMENT", "REFUND", "DISPUTE"] },
  { name: "cardholder_name", label: "Name on the card" },
  { name: "first_digits_card_number", label: "First digits of the card", inputMode: "numeric" },
  { name: "last_digits_card_number", label: "Last digits of the card", inputMode: "numeric" },
  { name: "card_brands", label: "Card brands", placeholder: "visa, master-card", maxLength: listMax },
  { name: "from_settled_date", label: "Settled from", type: "date" },
  { name: "to_settled_date", label: "Settled to", type: "date" },
  { name: "gateway_payout_id", label: "Payout" },
  { name: "gateway_transaction_id", label: "Provider's id" },
  { name: "agreement_id", label: "Agreement" },
  { name: "metadata_value", label: "Metadata value" },
];

const stateFilters: Choice[] = [
  { name: "payment_states", label: "Payments in state", options: paymentStatuses },
  { name: "refund_states", label: "Refunds in state", options: refundStatuses },
  { name: "dispute_states", label: "Disputes in state", options: disputeStatuses },
];

const lists = ["card_brands", ...stateFilters.map(({ name }) => name)];
/** In a form they are in the time zone of the reader, in the address bar in UTC. */
const instants = ["from_date", "to_date"];
const exactReference = "exact_reference_match";
const names = [...[...basicFilters, ...moreFilters, ...stateFilters].map(({ name }) => name), exactReference];
/** The parameters that the form shows without its details, or not at all. */
const alwaysShown = ["account_id", ...basicFilters.map(({ name }) => name), "cursor"];

/** The filters in the address bar, without the accounts. */
export function filtersIn(parameters: URLSearchParams): Search {
  const given = names.flatMap((name): [string, unknown][] => {
    const text = parameters.get(name) ?? "";
    if (name === exactReference) return text === "true" ? [[name, true]] : [];
    const value = lists.includes(name) ? listOf(text) : text;
    return value.length > 0 ? [[name, value]] : [];
  });
  return Object.fromEntries(given) as Search;
}

function toLocal(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

const toUtc = (local: string) => (local === "" ? "" : new Date(local).toISOString());

function search(fields: FormData): void {
  const given = ["account_id", ...names].map((name) => {
    const values = fields.getAll(name).map((value) => String(value).trim());
    return [name, instants.includes(name) ? values.map(toUtc) : values];
  });
  goTo(fragmentOf(["transactions"], Object.fromEntries(given) as Record<string, string[]>));
}

/** The form of a search. It is new for each address, so that it shows the search of the address. */
export function SearchForm({ parameters }: { parameters: URLSearchParams }) {
  const fieldOf = (filter: Filter) => (
    <FilterField key={filter.name} filter={filter} given={parameters.get(filter.name) ?? ""} />
  );
  return (
    <Form class="search" onSubmit={search} key={String(parameters)}>
      <div class="fields">
        <AccountsField account={parameters.get("account_id")} maxLength={listMax} />
        {basicFilters.map(fieldOf)}
      </div>
      <Details
        summary="More filters"
        isOpen={[...parameters.keys()].some((name) => !alwaysShown.includes(name))}
      >
        {() => (
          <>
            <div class="fields">
              {moreFilters.map(fieldOf)}
              <label class="check">
                <input
                  type="checkbox"
                  name={exactReference}
                  value="true"
                  defaultChecked={parameters.get(exactReference) === "true"}
                />
                The reference is the whole reference
              </label>
            </div>
            {stateFilters.map((filter) => (
              <StateFilter key={filter.name} filter={filter} given={listOf(parameters.get(filter.name))} />
            ))}
          </>
        )}
      </Details>
      <button type="submit">Search</button> <a href="#/transactions">Clear</a>
    </Form>
  );
}

function FilterField({ filter, given }: { filter: Filter; given: string }) {
  if (!("options" in filter))
    return (
      <Field
        maxLength={255}
        defaultValue={instants.includes(filter.name) ? toLocal(given) : given}
        {...filter}
      />
    );
  return (
    <label>
      {filter.label}
      <select name={filter.name}>
        <option value="">Any</option>
        {filter.options.map((option) => (
          <option key={option} value={option} selected={option === given}>
            {statusName(option)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The states of transactions of one type, of which several can be chosen. */
const StateFilter = ({ filter: { name, label, options }, given }: { filter: Choice; given: string[] }) => (
  <fieldset>
    <legend>{label}</legend>
    {options.map((option) => (
      <label key={option} class="check">
        <input type="checkbox" name={name} value={option} defaultChecked={given.includes(option)} />
        {statusName(option)}
      </label>
    ))}
  </fieldset>
);
