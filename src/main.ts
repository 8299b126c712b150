import { logLevels, openLog } from "./service/log.ts";
import { oneOf, readSettings, SettingsFault, text } from "./service/settings.ts";
import { stopOnSignals } from "./service/stop.ts";

const services = {
  ledger: () => import("./ledger/start.ts"),
  features: () => import("./features/start.ts"),
};

const usage = `Usage: npm start [-- SERVICE...]

Runs the services, both unless some are named, until SIGINT or SIGTERM.

  ledger     payment ledger, port LEDGER_PORT (8081)
  features   feature storage, port FEATURES_PORT (8080)
  --help     print this text

Settings come from the environment; the README lists them. Exit code: 0 after a stop, 1 when a service
cannot run, 2 when an argument or a setting is wrong.
`;

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127\./.test(host);
const complain = (line: string) => process.stderr.write(`${line}\n`);

async function main(args: string[]): Promise<number> {
  if (args.includes("--help")) {
    process.stdout.write(usage);
    return 0;
  }
  const unknown = args.filter((name) => !Object.hasOwn(services, name));
  if (unknown.length > 0) {
    complain(`unknown: ${unknown.join(" ")}; known: ${Object.keys(services).join(", ")}, --help`);
    return 2;
  }
  const chosen = Object.entries(services).filter(([name]) => args.length === 0 || args.includes(name));
  const loaded = await Promise.all(chosen.map(async ([name, load]) => ({ name, ...(await load()) })));
  const settings = readSettings(
    process.env,
    Object.assign(
      { HOST: text("127.0.0.1"), LOG_LEVEL: oneOf(logLevels, "info") },
      ...loaded.map(({ settings }) => settings),
    ),
  );

  const log = openLog(settings.LOG_LEVEL);
  if (!isLoopback(settings.HOST)) {
    log.warn(
      { host: settings.HOST },
      "no authentication is configured: whoever reaches this address is answered",
    );
  }
  const stop = stopOnSignals();
  const failures: string[] = [];
  await Promise.all(
    loaded.map(async ({ name, start }) => {
      try {
        await start(settings, log.child({ service: name }), stop.signal);
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
        log.debug({ err: error, service: name }, "the service ended");
      }
      stop.abort();
    }),
  );
  failures.forEach(complain);
  return failures.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SettingsFault)) throw error;
  error.faults.forEach(complain);
  process.exitCode = 2;
}
