// Preloaded by npm start.

// Lets the C library of Linux return freed memory to the system: its default keeps up to 64 MiB for each thread. It reads the
// variable when the process starts, so the process is replaced by one that has it.
const name = "MALLOC_TRIM_THRESHOLD_";
if (process.platform === "linux" && process.env[name] === undefined) {
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, command, { ...process.env, [name]: "131072" });
}

// Keeps compiled code for the next start, also that of the first modules.
require("node:module").enableCompileCache(
  require("node:path").join(__dirname, "../node_modules/.cache/compile"),
);
