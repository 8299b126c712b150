import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { root } from "../../testing/project.ts";

/** The generated files for browsers, each with its entry in `src/console`. */
const entries = {
  "ledger.console.js": "ledger/console.tsx",
  "features.console.js": "features/console.tsx",
  "sign-in.js": "sign-in.ts",
};

/**
 * Bundles the console of each service for browsers, and the code with which both sign in: the files by name. A bundle
 * contains everything that it needs, with the licences of the packages. Only the code to sign in is loaded when it is needed.
 */
export async function bundleConsoles(): Promise<Map<string, string>> {
  const texts = Object.entries(entries).map(
    async ([name, entry]) => [name, await bundle(name, entry)] as const,
  );
  return new Map(await Promise.all(texts));
}

/**
 * Loads the code to sign in, which is beside that of the console. Vite would add code that loads style sheets first to an
 * import that it sees.
 */
const loadSignIn = {
  name: "sign-in",
  renderChunk: (code: string) => code.replaceAll("importSignIn()", 'import("./sign-in.js")'),
};

async function bundle(name: string, entry: string): Promise<string> {
  // Vite reads it, and the bundle must not depend on where codegen runs.
  process.env.NODE_ENV = "production";
  const result = await build({
    root,
    configFile: false,
    envFile: false,
    logLevel: "silent",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [loadSignIn],
    build: {
      write: false,
      target: "es2023",
      modulePreload: false,
      rollupOptions: {
        input: join(root, "src/console", entry),
        preserveEntrySignatures: "strict",
      },
    },
  });
  const [chunk, ...others] = [result].flat().flatMap((one) => ("output" in one ? one.output : []));
  if (chunk?.type !== "chunk" || others.length > 0) throw new Error(`${name} is not one file`);
  const licences = await licencesOf(Object.keys(chunk.modules));
  return `// Generated from src/console by npm run codegen. Do not edit.\n${licences}\n${chunk.code}`;
}

/** The licences of the packages of these modules, each text once, as a comment. */
async function licencesOf(modules: string[]): Promise<string> {
  const names = modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const byText = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const folder = join(root, "node_modules", name);
    const [file = "LICENSE"] = (await readdir(folder)).filter((one) => /^licen[cs]e/i.test(one));
    const text = await readFile(join(folder, file), "utf8");
    byText.set(text.trim(), [...(byText.get(text.trim()) ?? []), name]);
  }
  const parts = [...byText].map(([text, packages]) => `${packages.sort().join(", ")}\n\n${text}`);
  return `/*!\n${parts.join("\n\n")}\n*/`;
}
