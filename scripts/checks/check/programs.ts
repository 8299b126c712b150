import { spawnSync } from "node:child_process";
import type { Installable } from "../../../testing/servers/install.ts";
import { findProgram } from "../../../testing/servers/server.ts";

const isFound = (name: string, folders: string[] = []) => findProgram(name, folders) !== undefined;
const program = (name: string, command: string, ...aptPackages: string[]): Installable => ({
  name,
  aptPackages,
  isInstalled: () => isFound(command),
});

// What the checks need besides servers.
export const browser = program("Chromium", "chromium", "chromium");
export const openssl = program("OpenSSL", "openssl", "openssl");
export const java: Installable = {
  name: "Java and Maven",
  aptPackages: ["openjdk-17-jdk-headless", "maven"],
  isInstalled: () => isFound("javac") && isFound("mvn"),
};
export const go: Installable = {
  name: "Go",
  aptPackages: ["golang-go"],
  isInstalled: () => isFound("go", ["/usr/local/go/bin"]),
};
/** With the module that makes virtual environments, which Debian packs apart. */
export const python: Installable = {
  name: "Python 3",
  aptPackages: ["python3-venv"],
  isInstalled: () => spawnSync("python3", ["-c", "import ensurepip"]).status === 0,
};
