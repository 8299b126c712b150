/** What is read of a lock file. */
export interface Lock {
  /** By their folder; that of the project itself is empty. */
  packages: Record<string, LockedPackage | undefined>;
}

interface LockedPackage {
  integrity?: string | undefined;
  resolved?: string;
  license?: string | undefined;
  hasInstallScript?: boolean | undefined;
  dev?: boolean;
}

/** What is read of a package.json. */
export type Manifest = Partial<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Record<string, string>>
>;

/**
 * What is wrong with the packages of a lock file: with where they come from, with the install scripts, which must be
 * those that are known, and with the licences of what is installed for production.
 */
export function lockFaults({ packages }: Lock, knownScripts: object, licences: string[]): string[] {
  const locked = Object.entries(packages).flatMap(([folder, one]) =>
    folder !== "" && one ? [{ name: nameOf(folder), ...one }] : [],
  );
  const scripted = new Set(locked.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name));
  return [
    ...locked.flatMap(({ name, integrity }) => (integrity ? [] : `${name} has no integrity`)),
    ...locked.flatMap(({ name, resolved }) =>
      resolved ? `${name} names where it comes from, which a package of the registry does not` : [],
    ),
    ...[...scripted]
      .filter((name) => !Object.hasOwn(knownScripts, name))
      .map((name) => `${name} has an install script, which is not among those that are known`),
    ...Object.keys(knownScripts)
      .filter((name) => !scripted.has(name))
      .map((name) => `${name} has no install script any more`),
    ...locked
      .filter(({ dev, license }) => !dev && !licences.includes(license ?? ""))
      .map(({ name, license = "no licence that it names" }) => `${name} is under ${license}`),
  ];
}

const nameOf = (folder: string) => folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);

/** Direct dependencies of which more than one version would do. */
export const manifestFaults = ({ dependencies, devDependencies, optionalDependencies }: Manifest): string[] =>
  Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, wanted]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(wanted))
    .map(([name, wanted]) => `${name} is not pinned: ${wanted}`);

/** What `npm audit --json` prints: a report; or of the request that failed, or of what else was wrong, why. */
interface Printed {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>;
  message?: string;
  statusCode?: number;
  error?: { summary?: string };
}

/** How a registry says that it does not know what an audit is. */
const answersNone = [404, 405, 501];

/**
 * What npm found: a line for each vulnerable package, or that it failed; or why the registry, when it cannot be reached
 * or knows no audits, tells nothing. (Its exit code is the same in all these cases.)
 */
export function readReport(printed: string): { faults: string[] } | { unanswered: string } {
  const { auditReportVersion, vulnerabilities = {}, message = "", statusCode = 0, error } = parse(printed);
  if (auditReportVersion !== undefined) {
    return { faults: Object.entries(vulnerabilities).map(([name, one]) => describe(name, one)) };
  }
  const [, unreachable] = /^request to \S+ failed, reason: (.*)$/s.exec(message) ?? [];
  if (unreachable !== undefined) return { unanswered: unreachable };
  const why = message.split(" - ")[0] || error?.summary || "it tells nothing that can be read";
  return answersNone.includes(statusCode) ? { unanswered: why } : { faults: [`npm audit failed: ${why}`] };
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
  const reasons = via.map((one) => (typeof one === "string" ? `through ${one}` : `${one.title}, ${one.url}`));
  return `${name} is vulnerable (${severity}): ${reasons.join("; ")}`;
}
