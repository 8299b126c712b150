import { execFileSync } from "node:child_process";
import npmPackage from "../package.json" with { type: "json" };
import { root } from "./project.ts";

const words = npmPackage.scripts.start.split(" ");
const options = words.slice(words.indexOf("node") + 1, words.indexOf("src/main.ts"));

/** The options of Node.js in `npm start`, without the modules that it preloads. */
export const startOptions = options.filter((word) => word.startsWith("--"));

/** The environment variables that the preloaded modules of `npm start` set. */
export const startEnvironment = JSON.parse(
  execFileSync(process.execPath, [...options, "--print", "JSON.stringify(process.env)"], {
    cwd: root,
    env: {},
    encoding: "utf8",
  }),
) as Record<string, string>;
