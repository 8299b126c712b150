import { Form } from "../form.tsx";
import { fragmentOf, type Place } from "../fragment.ts";
import { goTo } from "../history.ts";
import { Heading } from "../view.tsx";
import { AccountsField, type AccountsProps } from "./accounts.tsx";
import { Comparison } from "./comparison.tsx";
import { PaymentsByDay } from "./payments-by-day.tsx";
import { WrongPayouts } from "./wrong-payouts.tsx";

/** `#/`: payments by day and state, today against last week, and payouts that do not add up. */
export function Overview({ parameters }: Place) {
  const account = parameters.get("account_id");
  return (
    <>
      <Heading>Overview</Heading>
      <AccountForm account={account} />
      <PaymentsByDay account={account} />
      <h2>Today against the same day last week</h2>
      <Comparison account={account} />
      <h2>Payouts that do not add up</h2>
      <WrongPayouts account={account} key={account} />
    </>
  );
}

function AccountForm({ account }: AccountsProps) {
  const choose = (fields: FormData) =>
    goTo(fragmentOf([], { account_id: String(fields.get("account_id")).trim() }));
  return (
    <Form class="search" onSubmit={choose} key={account}>
      <div class="fields">
        <AccountsField account={account} />
        <button type="submit">Show</button>
      </div>
    </Form>
  );
}
