import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../project.ts";
import { debianProgram, type Installable } from "./install.ts";
import { findProgram, startServer, type TestServer } from "./server.ts";

/** A reverse proxy, with its example in `deploy/proxies`. */
export interface ProxyKind extends Installable {
  /** The file of the example. */
  example: string;
  /** A configuration with the defaults of the program, which leads every path to the service at `address`. */
  plain(address: string, options: { isCompressing: boolean }): string;
  /** The whole configuration file, and the command that runs it. */
  configuration(server: string, instance: { folder: string; port: number }): string;
  command(file: string): [program: string, ...args: string[]];
}

const sbin = ["/usr/sbin", "/usr/bin"];
const programOf = (name: string) => findProgram(name, sbin) ?? name;
/** A package with a program of the same name. */
const packageOf = (name: string, command: string) => debianProgram(name, command, [command], sbin);

const nginx: ProxyKind = {
  ...packageOf("nginx", "nginx"),
  example: "nginx.conf",
  plain: (address, { isCompressing }) => `server {
    listen 80;
    ${isCompressing ? "gzip on; gzip_types *;" : ""}
    location / { proxy_pass http://${address}; }
}`,
  configuration: (server, { folder, port }) => `
pid ${folder}/pid; daemon off; error_log stderr;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http {
access_log off;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((one) => `${one}_temp_path ${folder}/${one};`).join("\n")}
${server.replace("listen 80;", `listen 127.0.0.1:${port};`)}
}
`,
  command: (file) => [programOf("nginx"), "-e", "stderr", "-c", file],
};

const caddy: ProxyKind = {
  ...packageOf("Caddy", "caddy"),
  example: "Caddyfile",
  plain: (address, { isCompressing }) => `services.example {
	${isCompressing ? "encode gzip" : ""}
	reverse_proxy ${address}
}`,
  configuration: (server, { port }) => `{
	admin off
	auto_https off
}
${server.replace("services.example {", `http://127.0.0.1:${port} {`)}
`,
  command: (file) => [programOf("caddy"), "run", "--adapter", "caddyfile", "--config", file],
};

const haproxy: ProxyKind = {
  ...packageOf("HAProxy", "haproxy"),
  example: "haproxy.cfg",
  plain: (address, { isCompressing }) => `defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend services
    bind :80
    ${isCompressing ? "compression algo gzip\n    compression type application/json" : ""}
    default_backend service
backend service
    # With its defaults the check is OPTIONS / in HTTP/1.0.
    option httpchk
    server service ${address} check
`,
  configuration: (server, { port }) => server.replace("bind :80", `bind 127.0.0.1:${port}`),
  command: (file) => [programOf("haproxy"), "-db", "-f", file],
};

const modules = ["mpm_event", "authz_core", "alias", "filter", "deflate", "proxy", "proxy_http"];

const apache: ProxyKind = {
  ...packageOf("Apache", "apache2"),
  example: "apache.conf",
  plain: (address, { isCompressing }) => `<VirtualHost *:80>
    ${isCompressing ? "SetOutputFilter DEFLATE" : ""}
    AllowEncodedSlashes NoDecode
    ProxyPass / http://${address}/ nocanon
</VirtualHost>`,
  configuration: (server, { folder, port }) => `
ServerRoot ${folder}
ServerName services.example
PidFile pid
ErrorLog /dev/stderr
Listen 127.0.0.1:${port}
${process.getuid?.() === 0 ? "User www-data\nGroup www-data" : ""}
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join("\n")}
${server.replace("*:80", `127.0.0.1:${port}`)}
`,
  command: (file) => [programOf("apache2"), "-D", "FOREGROUND", "-f", file],
};

export const proxies = [nginx, caddy, haproxy, apache] as const;

/** The example of a proxy, with the addresses of these services. */
export const exampleOf = ({ example }: ProxyKind, ledgerUrl: string, featuresUrl: string): string =>
  readFileSync(join(root, "deploy/proxies", example), "utf8")
    .replaceAll("127.0.0.1:8081", new URL(ledgerUrl).host)
    .replaceAll("127.0.0.1:8080", new URL(featuresUrl).host);

/** Starts a proxy with the configuration of one server. Default of the port: a free one. */
export const startProxy = (kind: ProxyKind, server: string, port?: number): Promise<TestServer> =>
  startServer({
    name: kind.name.toLowerCase(),
    ...(port !== undefined && { port }),
    url: (instance) => `http://127.0.0.1:${instance.port}`,
    prepare: (instance) =>
      writeFile(join(instance.folder, kind.example), kind.configuration(server, instance)),
    command: ({ folder }) => kind.command(join(folder, kind.example)),
    stopSignal: "SIGTERM",
    probeRequest: "GET / HTTP/1.1\r\nHost: services.example\r\n\r\n",
    // A response with any status.
    probeResponse: "HTTP/1.1 ",
  });
