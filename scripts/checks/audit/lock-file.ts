/** The parts of a package-lock.json that are read. */
export interface Lock {
  /** By folder. The folder of the project itself is empty. */
  packages: Record<string, LockedPackage | undefined>;
}

interface LockedPackage {
  integrity?: string | undefined;
  resolved?: string;
  license?: string | undefined;
  hasInstallScript?: boolean | undefined;
  dev?: boolean;
}

/** The parts of a package.json that are read. */
export type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
>;

/**
 * Checks the packages of a lock file: their origin, their install scripts, which must be exactly the known ones, and the
 * licences of production packages. Returns a line for each fault.
 */
export function lockFaults({ packages }: Lock, knownScripts: object, licences: string[]): string[] {
  const scripts = new Set(Object.keys(knownScripts));
  const faults = Object.entries(packages).flatMap(([folder, entry]) => {
    if (folder === "" || !entry) return [];
    const name = nameOf(folder);
    const { integrity, resolved, hasInstallScript, dev, license = "not stated" } = entry;
    const isKnown = !hasInstallScript || Object.hasOwn(knownScripts, name);
    if (hasInstallScript) scripts.delete(name);
    return [
      ...(integrity ? [] : [`${name} has no integrity hash`]),
      // .npmrc omits the URL of packages from the registry.
      ...(resolved ? [`${name} does not come from the registry: ${resolved}`] : []),
      ...(isKnown ? [] : [`${name} has an install script that is not in the list of known ones`]),
      ...(dev || licences.includes(license) ? [] : [`the licence of ${name} is ${license}`]),
    ];
  });
  return [...faults, ...[...scripts].map((name) => `${name} no longer has an install script`)];
}

const nameOf = (folder: string) => folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);

/** A line for each direct dependency that is not pinned to one version. */
export const manifestFaults = ({ dependencies, devDependencies, optionalDependencies }: Manifest): string[] =>
  Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} is not pinned: ${version}`);

/** The output of `npm audit --json`: a report, a failed request or another error. */
interface Printed {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>;
  message?: string;
  statusCode?: number;
  error?: { summary?: string };
}

/** The statuses of a registry without audits. */
const unsupportedStatuses = [404, 405, 501];

/**
 * Parses the output of `npm audit --json`, whose exit code is the same in every case. `faults` has a line for each
 * vulnerable package, or for a failure. `unavailable` is the reason why there is no audit: the registry cannot be reached
 * or does not support audits.
 */
export function readReport(printed: string): { faults: string[] } | { unavailable: string } {
  const { auditReportVersion, vulnerabilities = {}, message = "", statusCode = 0, error } = parse(printed);
  if (auditReportVersion !== undefined) {
    return { faults: Object.entries(vulnerabilities).map(([name, found]) => describe(name, found)) };
  }
  const [, unreachable] = /^request to \S+ failed, reason: (.*)$/s.exec(message) ?? [];
  if (unreachable !== undefined) return { unavailable: unreachable };
  const reason = message.split(" - ")[0] || error?.summary || "its output is not a report";
  return unsupportedStatuses.includes(statusCode)
    ? { unavailable: reason }
    : { faults: [`npm audit failed: ${reason}`] };
}

function parse(printed: string): Printed {
  try {
    return JSON.parse(printed);
  } catch {
    return {};
  }
}

type Vulnerability = NonNullable<Printed["vulnerabilities"]>[string];

function describe(name: string, { severity, via }: Vulnerability): string {
  const reasons = via.map((cause) =>
    typeof cause === "string" ? `through ${cause}` : `${cause.title}, ${cause.url}`,
  );
  return `${name} is vulnerable (${severity}): ${reasons.join("; ")}`;
}
