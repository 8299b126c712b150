import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { outputOf } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";

const usage = `Usage: npm run client

Builds the package of the client in dist/client, from src/client: JavaScript for Node.js 20 and browsers, its types, the
manifest with the version of this project, README.md and LICENSE. To publish it: npm publish ./dist/client

  --help   print this text
`;

const source = join(root, "src/client");
const target = join(root, "dist/client");

interface Manifest {
  name: string;
  version: string;
  license: string;
}

/** The manifest of the client, with the version and licence of this project and the paths of the compiled files. */
async function readManifest(): Promise<Manifest> {
  const [project = "", client = ""] = await Promise.all(
    [root, source].map((folder) => readFile(join(folder, "package.json"), "utf8")),
  );
  const { version, license }: Manifest = JSON.parse(project);
  const compiled = (_key: string, value: unknown) =>
    typeof value === "string" ? value.replace(/^\.\/(.*)\.ts$/, "./src/client/$1.js") : value;
  return { version, license, ...(JSON.parse(client, compiled) as { name: string }) };
}

await runCommand("client", usage, async (args) => {
  rejectUnknown(args, []);
  await rm(target, { recursive: true, force: true });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await outputOf([process.execPath, tsc, "--project", "tsconfig.client.json"], { cwd: root });
  const manifest = await readManifest();
  await writeFile(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await cp(join(source, "README.md"), join(target, "README.md"));
  await cp(join(root, "LICENSE"), join(target, "LICENSE"));
  say(`built dist/client: ${manifest.name} ${manifest.version}`);
});
