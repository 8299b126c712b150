import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "undici";
import { type Contract, operationsOf } from "../src/contract/operations.ts";
import { responseChecker } from "../src/contract/response-check.ts";
import type { TestServer } from "../testing/servers/server.ts";
import type { FaultLog } from "./faults.ts";

export interface Asked {
  method?: "GET" | "POST" | "DELETE";
  path: string;
  accept?: string;
}

export interface Reply {
  status: number;
  text: string;
}

/** A caller of one server, who takes nothing for granted. */
export interface Caller extends AsyncDisposable {
  /**
   * Sends a request. Rejects when there is no whole reply; throws an `Astray` when there is one that strays from the
   * contract, or one, or none, that nothing explains which happened meanwhile.
   */
  ask(asked: Asked, statuses: number[]): Promise<Reply>;
}

/** Something that must not happen whatever the faults. */
export class Astray extends Error {}
/** Of a simulation in which something went astray, and of no other: no failure of Node.js or of a command ends so. */
export const astrayExitCode = 64;

const linesTold = 3;

/** Runs a simulation; to what went astray in it is added what the servers last wrote down of errors. */
export async function withLogs<Result>(servers: TestServer[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Astray)) throw error;
    const told = servers.flatMap(({ url, folder }) => {
      const errors = readFileSync(join(folder, "log"), "utf8")
        .split("\n")
        .filter((line) => !/"level":[1-4]\d,/.test(line) && line !== "");
      return [`the last errors of ${url}`, ...errors.slice(-linesTold).map((line) => line.slice(0, 1500))];
    });
    throw new Astray([error.message, ...told].join("\n"));
  }
}

interface Parts {
  url: string;
  contract: Contract;
  token?: string;
  /** Of the server itself, of what it depends on, and of those that write beside it and can hold up its writes. */
  parts: { own: string; others: string[]; writers?: string[] };
  /** Statuses that a fault explains. */
  excused: number[];
  faults: FaultLog;
  /** Replies by status. */
  counts: Map<string, number>;
}

const replyMaxMs = 20_000;

export function openCaller({ url, contract, token, parts, excused, faults, counts }: Parts): Caller {
  const pool = new Pool(url, { connections: 4, headersTimeout: replyMaxMs, bodyTimeout: replyMaxMs });
  const faultOf = responseChecker(contract);
  const operations = operationsOf(contract).map(({ operationId, method, path }) => ({
    operationId,
    method,
    form: new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, "[^/]+").replace(/\/$/, "")}/?$`),
  }));
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

  return {
    async ask({ method = "GET", path, accept = "application/json" }, statuses) {
      const from = performance.now();
      const { own, others, writers = [] } = parts;
      const all = [own, ...others, ...(method === "GET" ? [] : writers)];
      const suffered = () => faults.suffered(all, from, performance.now());
      const unexplained = (what: string) =>
        new Astray([`${method} ${path} of ${own}: ${what}`, ...faults.before(performance.now())].join("\n"));
      let reply: Reply & { headers: Record<string, unknown> };
      try {
        const { statusCode, headers, body } = await pool.request({
          method,
          path,
          headers: { accept, ...(token && { authorization: `Bearer ${token}` }) },
        });
        reply = { status: statusCode, headers, text: await body.text() };
      } catch (error) {
        count("no reply");
        if (suffered()) throw error;
        throw unexplained(`no reply: ${(error as Error).message}`);
      }
      const { status, headers, text } = reply;
      count(String(status));
      const [pathname = ""] = path.split("?");
      const operation = operations.find((one) => one.method === method && one.form.test(pathname));
      const fault = operation && faultOf(operation.operationId, { status, headers, body: text });
      if (fault !== undefined) throw unexplained(`${status}, ${fault}: ${text.slice(0, 500)}`);
      const isExcused = excused.includes(status) && suffered();
      if (!statuses.includes(status) && !isExcused) throw unexplained(`${status}: ${text.slice(0, 500)}`);
      return reply;
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}
