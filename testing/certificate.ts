import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const isOpensslInstalled = () => spawnSync("openssl", ["version"]).status === 0;

/** Makes the files of a self-signed certificate for a host name or IP address, and of its key. Deleted on disposal. */
export function makeCertificate(host: string) {
  const folder = mkdtempSync(join(tmpdir(), "certificate-"));
  const [certificate, key] = [join(folder, "certificate"), join(folder, "key")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const kind = isIP(host) ? "IP" : "DNS";
  const name = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=${kind}:${host}`];
  const files = ["-keyout", key, "-out", certificate];
  execFileSync("openssl", ["req", "-x509", ...curve, ...name, "-days", "2", ...files], { stdio: "ignore" });
  return { certificate, key, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
