import { lookup } from "node:dns/promises";
import { openAuthentication } from "./http/access/authentication.ts";
import { signInOf } from "./http/access/sign-in.ts";
import type { HttpOptions } from "./http/options.ts";
import { commonSettings } from "./http/settings.ts";
import type { Recorder } from "./ledger/access/recorder.ts";
import { exitMaxMs, exitWithin, rejectUnknown, runCommand } from "./process/command.ts";
import { messageOf } from "./process/describe-error.ts";
import { captureConsole, fatalReport, type Logger, logOutput, openLog } from "./process/log.ts";
import { misspeltSettings, readSettings, type Settings, SettingsError } from "./process/settings.ts";
import { stopOnSignals } from "./process/stop.ts";
import { hostOfAuthority, isLoopbackAddress } from "./values/host.ts";

const services = {
  ledger: () => import("./ledger/start.ts"),
  features: () => import("./features/start.ts"),
};

const usage = `Usage: npm start [-- SERVICE...]

Runs the services until SIGINT or SIGTERM. Default: both.

  ledger     payment ledger, port LEDGER_PORT (default 8081)
  features   feature storage, port FEATURES_PORT (default 8080)
  --help     print this text

Settings are environment variables; docs/settings.md lists them. Exit codes: 0 after a stop, 1 if a service
cannot run, 2 if an argument or a setting is wrong.
`;

type AllSettings = Settings<typeof commonSettings> &
  Settings<typeof import("./ledger/start.ts").settings> &
  Settings<typeof import("./features/start.ts").settings>;

/** Limit for a stop. Messages that are then still in flight are delivered again. */
const stopMaxMs = 20_000;

function exitLate(log: Logger): void {
  log.fatal(`the stop took longer than ${stopMaxMs} ms; the process exits`);
  process.exit(1);
}

/** Warns of variables that are probably misspelt settings. */
async function warnOfMisspelt(specification: object, log: Logger): Promise<void> {
  if (misspeltSettings(process.env, Object.keys(specification)).length === 0) return;
  // The settings of a service that this process does not run are no mistakes.
  const all = await Promise.all(Object.values(services).map((load) => load()));
  const known = Object.keys(Object.assign({}, specification, ...all.map(({ settings }) => settings)));
  for (const { given, nearest } of misspeltSettings(process.env, known))
    log.warn(`${given} is not a setting and has no effect; did you mean ${nearest}?`);
}

/** Resolves with true if only programs of this machine can reach the address. An address that cannot be resolved fails later. */
const isLoopback = (host: string) =>
  lookup(host).then(
    ({ address }) => isLoopbackAddress(address),
    () => false,
  );

/**
 * The hosts by which callers can reach the services; undefined for any. A page in a browser reaches loopback, too, by a name of
 * its own. Where the services require tokens, it has none.
 */
function allowedHostsOf(settings: AllSettings, isOpenOnLoopback: boolean): string[] | undefined {
  const { HOST, PUBLIC_URL, ALLOWED_HOSTS } = settings;
  const isRestricted = isOpenOnLoopback || ALLOWED_HOSTS.length > 0;
  if (!isRestricted || ALLOWED_HOSTS.includes("*")) return undefined;
  const publicHost = PUBLIC_URL && hostOfAuthority(PUBLIC_URL.host);
  return [HOST.toLowerCase(), publicHost ?? [], ALLOWED_HOSTS].flat();
}

/** Where the services record accesses. They are saved in the database of the ledger, by the ledger if this process runs it. */
async function openAccessLog(
  hasLedger: boolean,
  { AUDIT_JOURNAL, AUDIT_DATABASE_URL }: AllSettings,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<Recorder | undefined> {
  if (!hasLedger && !AUDIT_DATABASE_URL) {
    log.warn("changes of features are not recorded, since AUDIT_DATABASE_URL is not set");
    return undefined;
  }
  const { openRecorder, openWhenAvailable } = await import("./ledger/access/recorder.ts");
  const recorder = openRecorder(AUDIT_JOURNAL, log);
  if (!hasLedger && AUDIT_DATABASE_URL) opened.use(openWhenAvailable(recorder, AUDIT_DATABASE_URL, log));
  return recorder;
}

async function start(args: string[]): Promise<void> {
  rejectUnknown(args, Object.keys(services));
  const chosen = Object.entries(services).filter(([name]) => args.length === 0 || args.includes(name));
  const loaded = await Promise.all(chosen.map(async ([name, load]) => ({ name, ...(await load()) })));
  const specification = Object.assign({}, commonSettings, ...loaded.map(({ settings }) => settings));
  const settings = readSettings(process.env, specification) as AllSettings;

  if (settings.PUBLIC_URL && chosen.length > 1) {
    throw new SettingsError([
      "PUBLIC_URL is for a process that runs one service; TRUSTED_PROXIES is for both",
    ]);
  }

  const signIn = signInOf(settings);
  const log = openLog(settings.LOG_LEVEL, logOutput(settings.LOG_FORMAT));
  captureConsole(log);
  const stop = stopOnSignals();
  stop.signal.addEventListener("abort", () => setTimeout(exitLate, stopMaxMs, log).unref());
  await warnOfMisspelt(specification, log);
  const security = await openAuthentication(settings, log);
  const isLocal = await isLoopback(settings.HOST);
  if (!security && !isLocal) {
    log.warn({ host: settings.HOST }, "authentication is off: anyone who can reach this address has access");
  }
  if (!security) log.info("authentication is off: accesses are not recorded");
  await using opened = new AsyncDisposableStack();
  const hasLedger = chosen.some(([name]) => name === "ledger");
  const http: HttpOptions & { accessLog: Recorder | undefined } = {
    security,
    accessLog: security && (await openAccessLog(hasLedger, settings, log, opened)),
    isReasonRequired: settings.ACCESS_REASON_REQUIRED,
    scopeClaim: settings.AUTH_SCOPE_CLAIM,
    signIn,
    publicUrl: settings.PUBLIC_URL?.href,
    trustedProxies: settings.TRUSTED_PROXIES,
    corsOrigins: settings.CORS_ORIGINS,
    allowedHosts: allowedHostsOf(settings, !security && isLocal),
    mcp: settings.MCP,
    keepAliveTimeoutMs: settings.KEEP_ALIVE_TIMEOUT_MS,
  };
  log.info(`starting ${chosen.map(([name]) => name).join(" and ")}; Ctrl-C stops this process`);
  const failures: Error[] = [];
  const running = loaded.map(async ({ name, start }) => {
    try {
      await start(settings, http, log.child({ service: name }), stop.signal);
    } catch (error) {
      log.debug({ err: error, service: name }, "the service ended");
      failures.push(new Error(`${name}: ${messageOf(error)}`));
    }
    // If one service cannot run, the other stops too, so that the failure is not missed.
    stop.abort();
  });
  await Promise.all(running);
  if (failures.length > 0) throw new AggregateError(failures);
}

await runCommand("start", usage, start, fatalReport(process.env.LOG_FORMAT));
exitWithin(exitMaxMs);
