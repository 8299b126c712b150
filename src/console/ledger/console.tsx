import { openConsole } from "../page.tsx";
import { Intake } from "./intake.tsx";
import { readScopes } from "./ledger.ts";
import { Overview } from "./overview.tsx";
import { Transactions } from "./search.tsx";

openConsole("Payment ledger", [
  { name: "", title: "Overview", link: "Overview", scopes: readScopes, component: Overview },
  {
    name: "transactions",
    title: "Transactions",
    link: "Transactions",
    scopes: readScopes,
    component: Transactions,
  },
  { name: "intake", title: "Intake", link: "Intake", scopes: ["ledger:operate"], component: Intake },
]);
