import { parseAllDocuments } from "yaml";
import type { Container } from "./agreement.ts";

interface ComposeModel {
  services: Record<
    string,
    {
      image: string;
      build?: unknown;
      command?: string[];
      environment?: Record<string, string>;
      ports?: { target: number }[];
      depends_on?: Record<string, unknown>;
      volumes?: { type: string; source: string }[];
      healthcheck?: { test: string[] };
    }
  >;
  volumes?: Record<string, unknown>;
}

/** A line for each reference to an undefined service or volume. compose-go reports these only when it runs the file. */
export function composeFaults(model: string): string[] {
  const { services, volumes = {} } = JSON.parse(model) as ComposeModel;
  return Object.entries(services).flatMap(([name, { depends_on = {}, volumes: mounts = [] }]) => [
    ...Object.keys(depends_on)
      .filter((other) => !(other in services))
      .map((other) => `${name} depends on ${other}, which is not a service of the file`),
    ...mounts
      .filter(({ type, source }) => type === "volume" && !(source in volumes))
      .map(({ source }) => `${name} mounts ${source}, which is not a volume of the file`),
  ]);
}

/**
 * The containers of a compose file, in the JSON of compose-go, that run this project's image. These are the ones with
 * `build`.
 */
export function composeContainers(model: string): Container[] {
  const { services } = JSON.parse(model) as ComposeModel;
  return Object.entries(services)
    .filter(([, { build }]) => build !== undefined)
    .map(([name, { image, command = [], environment = {}, ports = [], healthcheck }]) => ({
      name,
      image,
      args: command,
      environment,
      ports: [...ports.map(({ target }) => target), ...portsIn(healthcheck?.test.join(" ") ?? "")],
      missing: healthcheck ? [] : ["healthcheck"],
    }));
}

const portsIn = (text: string) => [...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));

interface Pod {
  enableServiceLinks?: boolean;
  containers: {
    name: string;
    image: string;
    args?: string[];
    env?: { name: string; value?: string }[];
    envFrom?: { configMapRef?: { name: string } }[];
    ports?: { containerPort: number }[];
    [probe: `${string}Probe`]: unknown;
  }[];
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: { template?: { spec?: Pod } };
}

const probes = ["startupProbe", "readinessProbe", "livenessProbe"] as const;

/** The containers of Kubernetes manifests. All run this project's image. */
export function manifestContainers(text: string): Container[] {
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const settingsOf = (map = "") =>
    manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === map)?.data ?? {};
  return manifests.flatMap(({ spec }) => {
    const { containers = [], enableServiceLinks } = spec?.template?.spec ?? {};
    return containers.map(({ name, image, args = [], envFrom = [], env = [], ports = [], ...container }) => ({
      name,
      image,
      args,
      environment: Object.fromEntries([
        ...envFrom.flatMap(({ configMapRef }) => Object.entries(settingsOf(configMapRef?.name))),
        ...env.map(({ name, value }) => [name, value ?? null]),
      ]),
      ports: ports.map(({ containerPort }) => containerPort),
      missing: [
        ...probes.filter((probe) => container[probe] === undefined),
        // For a Service named ledger, Kubernetes would set LEDGER_PORT to a URL.
        ...(enableServiceLinks === false ? [] : ["enableServiceLinks: false"]),
      ],
    }));
  });
}
