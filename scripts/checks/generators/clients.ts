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
const forEachContract = (command: string) =>
  ["ledger", "features"].map((name) => command.replaceAll("NAME", name).split(" "));

/** The options are names and folders, except for Kotlin. */
const openapiGenerator = (language: string, options: string) =>
  forEachContract(`openapi-generator-cli generate -g ${language} -i NAME.yaml ${options}`);

/** Its default library reads no alternatives: a class without members, or an interface that no class implements. */
const kotlinAlternatives = [
  "TransactionView",
  "LenientBoolean",
  "LenientIdentifier",
  "LenientPence",
  "LenientText",
  "EventMessage_live",
  "EventMessage_reproject_domain_object",
  "GatewayPerformance_gateway_account_id",
];
const asAny = kotlinAlternatives.map((name) => `${name}=kotlin.Any`).join();
const kotlinCompiler = "java -cp 'lib/*' org.jetbrains.kotlin.cli.jvm.K2JVMCompiler";
const kotlinOptions = "-no-stdlib -no-reflect -nowarn -cp $(echo lib/*.jar | tr ' ' ':') -d classes";

const javaFolders = "-o NAME --invoker-package NAME --api-package NAME.api --model-package NAME.model";
const javaSources = "Calls.java $(find . -path '*/src/main/*.java')";

export const clients: Client[] = [
  {
    ...{ name: "package-client", leavesOut: "everything", needs: [] },
    commands: [
      ["node", fileURLToPath(new URL("../../../examples/package-client/calls.ts", import.meta.url))],
    ],
  },
  {
    ...{ name: "openapi-generator-java", leavesOut: [], needs: ["python3", "java", "javac", "mvn"] },
    commands: [
      ...openapiGenerator("java", javaFolders),
      // The generated project names its dependencies.
      [
        ..."mvn --quiet --batch-mode --file ledger dependency:copy-dependencies".split(" "),
        ..."-DincludeScope=compile -DoutputDirectory=../lib".split(" "),
      ],
      ["sh", "-c", `javac -encoding UTF-8 -nowarn -d classes -cp 'lib/*' ${javaSources}`],
      ["java", "-Dfile.encoding=UTF-8", "-cp", "classes:lib/*", "Calls"],
    ],
  },
  {
    ...{ name: "openapi-generator-go", leavesOut: [], needs: ["python3", "java", "go"] },
    commands: [
      ...openapiGenerator("go", "-o NAME --package-name NAME"),
      // The generated modules become packages of the program.
      ["sh", "-c", "rm -r */go.mod */go.sum */test"],
      ...compileAndRunGo(versions.goValidator),
    ],
  },
  {
    ...{ name: "openapi-generator-python", leavesOut: [], needs: ["python3", "java"] },
    commands: [...openapiGenerator("python", "-o . --package-name NAME_client"), ...compileAndRunPython],
  },
  {
    ...{ name: "openapi-generator-typescript", leavesOut: beyondTypeScript, needs: ["python3", "java"] },
    commands: [...openapiGenerator("typescript-fetch", "-o NAME"), ...compileAndRunTypeScript],
  },
  {
    // It has one class for all kinds of transactions, and none that holds one of several scalar types.
    ...{ name: "openapi-generator-php", leavesOut: ["kinds", "accounts"], needs: ["python3", "java", "php"] },
    commands: [...openapiGenerator("php", "-o NAME --invoker-package NAME"), ["php", "calls.php"]],
  },
  {
    ...{ name: "openapi-generator-ruby", leavesOut: [], needs: ["python3", "java", "ruby"] },
    commands: [
      ...openapiGenerator("ruby", "-o NAME --additional-properties gemName=NAME"),
      "ruby -W0 -I ledger/lib -I features/lib calls.rb".split(" "),
    ],
  },
  {
    // Its functions return no status of a success.
    ...{ name: "openapi-generator-rust", leavesOut: ["added", "feature", "removed"] },
    needs: ["python3", "java", "cargo"],
    commands: [
      // With a discriminator it reads no transaction.
      ["sed", "-i", "/^      discriminator:$/,/^          DISPUTE: /d", "ledger.yaml"],
      ...openapiGenerator("rust", "-o NAME --package-name NAME"),
      ["cargo", "run", "--quiet", "--"],
    ],
  },
  {
    ...{ name: "openapi-generator-kotlin", leavesOut: [], needs: ["python3", "java", "mvn"] },
    commands: [
      ...openapiGenerator("kotlin", `-o NAME --package-name NAME --schema-mappings ${asAny}`),
      "mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory=lib".split(" "),
      ["sh", "-c", `${kotlinCompiler} ${kotlinOptions} calls.kt */src/main`],
      ["java", "-Dfile.encoding=UTF-8", "-cp", "classes:lib/*", "CallsKt"],
    ],
  },
  {
    ...{ name: "openapi-python-client", leavesOut: [], needs: ["python3"] },
    commands: [
      ...forEachContract(
        "openapi-python-client generate --path NAME.yaml --output-path NAME_client --meta none --fail-on-warning",
      ),
      ...compileAndRunPython,
    ],
  },
  {
    ...{ name: "oapi-codegen", leavesOut: [], needs: ["go"] },
    commands: [
      ["mkdir", "ledger", "features"],
      ...forEachContract(
        `go run ${versions.oapiCodegen} -generate types,client -package NAME -o NAME/NAME.go NAME.yaml`,
      ),
      ...compileAndRunGo(versions.oapiCodegenRuntime),
    ],
  },
  ...Object.entries({
    "openapi-typescript": "openapi-typescript NAME.yaml --output NAME.ts",
    "hey-api": "openapi-ts --input NAME.yaml --output NAME",
    orval: "orval --input ./NAME.yaml --output ./NAME.ts",
  }).map(([name, command]) => ({
    ...{ name, leavesOut: beyondTypeScript, needs: [] },
    commands: [...forEachContract(command), ...compileAndRunTypeScript],
  })),
];
