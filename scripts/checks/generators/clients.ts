import { fileURLToPath } from "node:url";
import { beyondTypeScript, type Step } from "./shown.ts";
import { versions } from "./versions.ts";

/** A client: the program `examples/NAME/calls.*`, with generated code, except that of this package. */
export interface Client {
  name: string;
  /** Programs that are not installed by this check. */
  needs: string[];
  /**
   * The commands that generate the code from `ledger.yaml` and `features.yaml`, compile it with the program, and start the
   * program, whose arguments follow. They run in a folder that has the contracts and the program.
   */
  commands: string[][];
  /** The steps that its program does not show. One that leaves out everything checks itself. */
  leavesOut: Step[] | "everything";
}

const compileAndRunTypeScript = [
  ["tsc", "--project", "."],
  ["node", "js/calls.js"],
];
const compileAndRunPython = [
  ["python", "-m", "compileall", "-q", "."],
  ["mypy", "calls.py"],
  ["python", "calls.py"],
];
const compileAndRunGo = (module: string) => [
  ["go", "mod", "init", "example"],
  ["go", "get", module],
  ["go", "mod", "tidy"],
  ["go", "vet", "./..."],
  ["go", "run", "."],
];

/** A command for each contract, with its words separated by spaces. */
const forEachContract = (command: (name: string) => string) =>
  ["ledger", "features"].map((name) => command(name).split(" "));

/** The options are names and folders only. */
const openapiGenerator = (language: string, options: (name: string) => string) =>
  forEachContract((name) => `openapi-generator-cli generate -g ${language} -i ${name}.yaml ${options(name)}`);

export const clients: Client[] = [
  {
    name: "package-client",
    leavesOut: "everything",
    needs: [],
    commands: [
      ["node", fileURLToPath(new URL("../../../examples/package-client/calls.ts", import.meta.url))],
    ],
  },
  {
    name: "openapi-generator-java",
    leavesOut: [],
    needs: ["python3", "java", "javac", "mvn"],
    commands: [
      ...openapiGenerator(
        "java",
        (name) =>
          `-o ${name} --invoker-package ${name} --api-package ${name}.api --model-package ${name}.model`,
      ),
      // The generated project names its dependencies.
      [
        ..."mvn --quiet --batch-mode --file ledger dependency:copy-dependencies".split(" "),
        ..."-DincludeScope=compile -DoutputDirectory=../lib".split(" "),
      ],
      [
        "sh",
        "-c",
        "javac -encoding UTF-8 -nowarn -d classes -cp 'lib/*' Calls.java $(find . -path '*/src/main/*.java')",
      ],
      ["java", "-cp", "classes:lib/*", "Calls"],
    ],
  },
  {
    name: "openapi-generator-go",
    leavesOut: [],
    needs: ["python3", "java", "go"],
    commands: [
      ...openapiGenerator("go", (name) => `-o ${name} --package-name ${name}`),
      // The generated modules become packages of the program.
      ["sh", "-c", "rm -r */go.mod */go.sum */test"],
      ...compileAndRunGo(versions.goValidator),
    ],
  },
  {
    name: "openapi-generator-python",
    leavesOut: [],
    needs: ["python3", "java"],
    commands: [
      ...openapiGenerator("python", (name) => `-o . --package-name ${name}_client`),
      ...compileAndRunPython,
    ],
  },
  {
    name: "openapi-generator-typescript",
    leavesOut: beyondTypeScript,
    needs: ["python3", "java"],
    commands: [...openapiGenerator("typescript-fetch", (name) => `-o ${name}`), ...compileAndRunTypeScript],
  },
  {
    name: "openapi-python-client",
    leavesOut: [],
    needs: ["python3"],
    commands: [
      ...forEachContract(
        (name) =>
          `openapi-python-client generate --path ${name}.yaml --output-path ${name}_client --meta none --fail-on-warning`,
      ),
      ...compileAndRunPython,
    ],
  },
  {
    name: "oapi-codegen",
    leavesOut: [],
    needs: ["go"],
    commands: [
      ["mkdir", "ledger", "features"],
      ...forEachContract(
        (name) =>
          `go run ${versions.oapiCodegen} -generate types,client -package ${name} -o ${name}/${name}.go ${name}.yaml`,
      ),
      ...compileAndRunGo(versions.oapiCodegenRuntime),
    ],
  },
  {
    name: "openapi-typescript",
    leavesOut: beyondTypeScript,
    needs: [],
    commands: [
      ...forEachContract((name) => `openapi-typescript ${name}.yaml --output ${name}.ts`),
      ...compileAndRunTypeScript,
    ],
  },
  {
    name: "hey-api",
    leavesOut: beyondTypeScript,
    needs: [],
    commands: [
      ...forEachContract((name) => `openapi-ts --input ${name}.yaml --output ${name}`),
      ...compileAndRunTypeScript,
    ],
  },
  {
    name: "orval",
    leavesOut: beyondTypeScript,
    needs: [],
    commands: [
      ...forEachContract((name) => `orval --input ./${name}.yaml --output ./${name}.ts`),
      ...compileAndRunTypeScript,
    ],
  },
];
