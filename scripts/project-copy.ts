import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const parts = [
  ...["openapi", "generated", "scripts", "src", "package.json", "tsconfig.json", "vitest.config.ts"],
  ...["redocly.yaml", ".redocly.lint-ignore.yaml", "CHANGELOG.md"],
];

/** A copy of this project to change and to run things in; it shares the installed packages. */
export async function openProjectCopy() {
  const folder = await mkdtemp(join(tmpdir(), "project-"));
  for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
