import { execFile } from "node:child_process";
import { cp, mkdir, stat } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { promisify } from "node:util";

interface Instruction {
  name: string;
  text: string;
}

/** What a Dockerfile says of its last stage. */
export interface Dockerfile {
  instructions: Instruction[];
  /** The tags of the images it begins with. */
  bases: string[];
  environment: Record<string, string>;
  ports: number[];
  entrypoint: string[];
  command: string[];
}

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");

/** Reads what this project uses of the language: no heredocs, no variables, no options but `--from`. */
export function readDockerfile(text: string): Dockerfile {
  const instructions = text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [name = "", ...rest] = words(line);
      return { name, text: rest.join(" ") };
    });
  const of = (name: string, among = instructions) =>
    among.filter((instruction) => instruction.name === name).map((instruction) => instruction.text);
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));
  const list = (name: string): string[] => {
    const text = of(name, last).at(-1) ?? "[]";
    if (!text.startsWith("["))
      throw new Error(`${name} ${text}: write it as a list, since a shell keeps signals back`);
    return JSON.parse(text);
  };
  return {
    instructions,
    bases: of("FROM").map((from) => words(from)[0] ?? ""),
    environment: Object.fromEntries(
      of("ENV", last).flatMap((pairs) => words(pairs).map((pair) => pair.split("="))),
    ),
    ports: of("EXPOSE", last).flatMap(words).map(Number),
    entrypoint: list("ENTRYPOINT"),
    command: list("CMD"),
  };
}

/** Unlike Node's own globs, in which a star does not stand for a name that begins with a dot. */
const expressionOf = (pattern: string) => {
  const parts = pattern.replaceAll(/\*\*\/|\*|[.+?^$(){}|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    return part === "*" ? "[^/]*" : `\\${part}`;
  });
  return new RegExp(`^${parts}$`);
};

/** Whether a path of the project is kept from the image: the last pattern that fits it, or a folder it is in, decides. */
export function isIgnored(ignoreFile: string, path: string): boolean {
  const parts = path.split("/");
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  const patterns = ignoreFile.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const decides = patterns.findLast((pattern) => {
    const expression = expressionOf(pattern.replace(/^!/, ""));
    return paths.some((each) => expression.test(each));
  });
  return decides !== undefined && !decides.startsWith("!");
}

/**
 * Makes below `folder` the files that the instructions add to the base images, running their commands here. Answers
 * the folder that the image's process would be in.
 */
export async function makeTree(
  { instructions }: Dockerfile,
  ignoreFile: string,
  project: string,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  let stage = folder;
  let place = folder;
  for (const { name, text } of instructions) {
    if (name === "FROM") {
      stage = join(folder, text.match(/ AS (\S+)$/)?.[1] ?? "last");
      place = stage;
      await mkdir(stage, { recursive: true });
    } else if (name === "WORKDIR") {
      place = join(stage, text);
      await mkdir(place, { recursive: true });
    } else if (name === "RUN") {
      await promisify(execFile)("sh", ["-c", text], { cwd: place, signal });
    } else if (name === "COPY") {
      const from = text.match(/^--from=(\S+)/)?.[1];
      const paths = words(text.replace(/^--from=\S+/, ""));
      const target = paths.at(-1) ?? "";
      for (const path of paths.slice(0, -1)) {
        const source = join(from === undefined ? project : join(folder, from), path);
        const isFolder = (await stat(source)).isDirectory();
        const destination = resolve(place, target, !isFolder && target.endsWith("/") ? basename(path) : "");
        await cp(source, destination, {
          recursive: true,
          verbatimSymlinks: true,
          filter: async (each) =>
            from !== undefined ||
            (await stat(each)).isDirectory() ||
            !isIgnored(ignoreFile, relative(project, each)),
        });
      }
    }
  }
  return place;
}
