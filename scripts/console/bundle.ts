import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { root } from "../../testing/project.ts";

/** The services that have a console, by the folder of its entry in `src/console`. */
const services = ["ledger", "features"];

/**
 * Bundles the console of each service for browsers: the files by name. The bundle contains everything that the page
 * loads, with the licences of the packages.
 */
export async function bundleConsoles(): Promise<Map<string, string>> {
  const bundles = await Promise.all(services.map(bundle));
  return new Map(bundles.map((text, index) => [`${services[index]}.console.js`, text]));
}

async function bundle(service: string): Promise<string> {
  // Vite reads it, and the bundle must not depend on where codegen runs.
  process.env.NODE_ENV = "production";
  const result = await build({
    root,
    configFile: false,
    envFile: false,
    logLevel: "silent",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      target: "es2023",
      modulePreload: false,
      rollupOptions: { input: join(root, `src/console/${service}/console.tsx`) },
    },
  });
  const [chunk, ...others] = [result].flat().flatMap((one) => ("output" in one ? one.output : []));
  if (chunk?.type !== "chunk" || others.length > 0)
    throw new Error(`${service}: the console is not one file`);
  const licences = await licencesOf(Object.keys(chunk.modules));
  return `// Generated from src/console by npm run codegen. Do not edit.\n${licences}\n${chunk.code}`;
}

/** The licences of the packages of these modules, each text once, as a comment. */
async function licencesOf(modules: string[]): Promise<string> {
  const names = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const byText = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const text = await readFile(join(root, "node_modules", name, "LICENSE"), "utf8");
    byText.set(text.trim(), [...(byText.get(text.trim()) ?? []), name]);
  }
  const parts = [...byText].map(([text, packages]) => `${packages.sort().join(", ")}\n\n${text}`);
  return `/*!\n${parts.join("\n\n")}\n*/`;
}
