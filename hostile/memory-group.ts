import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Creates a group of processes that the system ends when they use more memory than the limit (Linux control groups), below
 * the group of this process. Undefined where the system does not permit it.
 */
export function openMemoryGroup(limitMiB: number) {
  try {
    return createGroup(limitMiB);
  } catch {
    return undefined;
  }
}

function createGroup(limitMiB: number) {
  const isVersion2 = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const own = readFileSync("/proc/self/cgroup", "utf8");
  const [, path = "/"] = (isVersion2 ? /^0::(.*)$/m : /^\d+:memory:(.*)$/m).exec(own) ?? [];
  const root = isVersion2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
  // In version 2 a group with processes cannot limit its children, so the new group is its sibling.
  const parent = join(root, isVersion2 ? dirname(path) : path);
  const folder = join(parent, `hostile-${process.pid}-${groups++}`);
  if (isVersion2) writeFileSync(join(parent, "cgroup.subtree_control"), "+memory");
  mkdirSync(folder);
  try {
    const limit = join(folder, isVersion2 ? "memory.max" : "memory.limit_in_bytes");
    writeFileSync(limit, String(limitMiB * 2 ** 20));
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
  return {
    /** The command, run in the group from its start. */
    wrap: (command: string[]) => ["sh", "-c", enter, join(folder, "cgroup.procs"), ...command],
    [Symbol.dispose]: () => rmdirSync(folder),
  };
}

const enter = 'echo $$ > "$0" && exec "$@"';
let groups = 0;
