import { rejectUnknown, runCommand } from "../../src/process/command.ts";
import { fillFeatures } from "./features.ts";
import { fillLedger } from "./ledger.ts";

const usage = `Usage: npm run demo

Fills the running services with something to see, and prints requests to try. It is safe to run it again.

The ledger at LEDGER_PORT gets, through its queue, the events of a few payments and an agreement, out of order and with
duplicates, those of a shop with three months of payments until now, and two messages that become dead letters. The feature
storage at FEATURES_PORT, if one runs, gets the features of some customers. If no ledger responds, one is awaited for a
minute.

  --help   print this text
`;

await runCommand("demo", usage, async (args) => {
  rejectUnknown(args, []);
  await fillLedger();
  await fillFeatures();
});
