import { openAuthentication } from "../../src/http/access/authentication.ts";
import { commonSettings } from "../../src/http/settings.ts";
import { settings, start } from "../../src/ledger/start.ts";
import { openLog } from "../../src/process/log.ts";
import { readSettings } from "../../src/process/settings.ts";
import { stopOnSignals } from "../../src/process/stop.ts";

/** The ledger with tokens, which records no accesses. */
const given = readSettings(
  { ...process.env, LEDGER_PORT: process.env.PORT },
  { ...commonSettings, ...settings },
);
const log = openLog("info");
const security = await openAuthentication(given, log);
await start(given, { security, accessLog: undefined }, log, stopOnSignals().signal);
