import { openConsole } from "../console.tsx";
import { readScopes as scopes } from "./client.ts";
import { Intake } from "./intake.tsx";
import { Overview } from "./overview.tsx";
import { Transactions } from "./transactions.tsx";

openConsole("Payment ledger", [
  { name: "", title: "Overview", isLinked: true, scopes, component: Overview },
  { name: "transactions", title: "Transactions", isLinked: true, scopes, component: Transactions },
  { name: "intake", title: "Intake", isLinked: true, scopes: ["ledger:operate"], component: Intake },
]);
