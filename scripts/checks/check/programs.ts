import { spawnSync } from "node:child_process";
import { debianProgram, type Installable } from "../../../testing/servers/install.ts";
import { findProgram } from "../../../testing/servers/server.ts";

const isFound = (name: string) => findProgram(name) !== undefined;

const runs = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

// What the checks need besides servers.
export const browser = debianProgram("Chromium", "chromium", ["chromium"]);
export const openssl = debianProgram("OpenSSL", "openssl", ["openssl"]);
export const openssh = debianProgram("OpenSSH", "ssh-agent", ["openssh-client"]);
export const java: Installable = {
  name: "Java and Maven",
  aptPackages: ["openjdk-17-jdk-headless", "maven"],
  isInstalled: () => isFound("javac") && isFound("mvn"),
};
export const go = debianProgram("Go", "go", ["golang-go"], ["/usr/local/go/bin"]);
/** With the HTTP client of the generated code. There is no Bundler and no Composer. */
export const ruby: Installable = {
  name: "Ruby with Typhoeus",
  aptPackages: ["ruby", "ruby-typhoeus"],
  isInstalled: () => runs("ruby", "-e", "require 'typhoeus'"),
};
export const php: Installable = {
  name: "PHP with Guzzle",
  aptPackages: ["php-cli", "php-curl", "php-mbstring", "php-guzzlehttp-guzzle"],
  isInstalled: () =>
    runs("php", "-r", "require 'GuzzleHttp/autoload.php'; exit(function_exists('curl_init') ? 0 : 1);"),
};
/** The package `cargo` of Debian 12 is too old for the packages of the generated code. */
export const rust = debianProgram("Rust", "cargo", ["cargo-web"]);
/** With the module that makes virtual environments, which Debian packs apart. */
export const python: Installable = {
  name: "Python 3",
  aptPackages: ["python3-venv"],
  isInstalled: () => runs("python3", "-c", "import ensurepip"),
};
