import type { IncomingHttpHeaders } from "node:http";
import { Pool } from "undici";
import { featuresContract, ledgerContract } from "../src/contract/contracts.ts";
import { operationsOf } from "../src/contract/operations.ts";
import { responseChecker } from "../src/contract/response-check.ts";
import type { FaultLog } from "./faults.ts";
import { Violation } from "./violation.ts";

export interface HttpRequest {
  method?: "GET" | "POST" | "DELETE";
  path: string;
  accept?: string;
  /** JSON. */
  body?: string;
}

export type CheckingClient = ReturnType<typeof openCheckingClient>;

/** What the clients of a service have in common. */
const services = {
  ledger: { contract: ledgerContract, dependencies: ["database", "disk"], excusedStatuses: [503, 504] },
  features: { contract: featuresContract, dependencies: ["store", "disk"], excusedStatuses: [500, 503] },
};

interface ClientOptions {
  /** The component that it is in the faults, such as `ledger 0`. */
  server: string;
  url: string;
  token?: string;
  /** Processes that can block its writes. Their faults excuse an error, too, as do those of its dependencies. */
  writers?: string[];
  faults: FaultLog;
  /** The number of responses by status. */
  responses: Map<string, number>;
}

const responseMaxMs = 20_000;
const timeoutsMax = 3;

/** Opens an HTTP client of one server that checks every response. */
export function openCheckingClient(
  service: keyof typeof services,
  { server, url, token, writers = [], faults, responses }: ClientOptions,
) {
  const { contract, dependencies, excusedStatuses } = services[service];
  const pool = new Pool(url, { connections: 4, headersTimeout: responseMaxMs, bodyTimeout: responseMaxMs });
  const contractViolationOf = responseChecker(contract);
  const operations = operationsOf(contract).map(({ operationId, method, path }) => ({
    operationId,
    method,
    pattern: new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, "[^/]+").replace(/\/$/, "")}/?$`),
  }));
  const count = (result: string) => responses.set(result, (responses.get(result) ?? 0) + 1);

  /**
   * Sends a request and resolves with the response. Rejects with another error than `Violation` if there is no complete
   * response and a fault excuses it.
   *
   * Rejects with a `Violation` if the response violates the contract, or if no fault excuses its status or its absence.
   */
  async function send(
    request: HttpRequest,
    expectedStatuses: number[],
    attempt = 1,
  ): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
    const { method = "GET", path, accept = "application/json", body: sent } = request;
    const sentAt = performance.now();
    const components = [server, ...dependencies, ...(method === "GET" ? [] : writers)];
    const isExcused = () => faults.affected(components, sentAt, performance.now());
    const violation = (what: string) =>
      new Violation(
        [`${method} ${path} of ${server}: ${what}`, ...faults.before(performance.now())].join("\n"),
      );
    const sentHeaders = {
      accept,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(sent !== undefined && { "content-type": "application/json" }),
    };
    const { status, headers, text } = await pool
      .request({ method, path, headers: sentHeaders, body: sent ?? null })
      .then(async ({ statusCode, headers, body }) => ({
        status: statusCode,
        headers,
        text: await body.text(),
      }))
      .catch((error: Error) => {
        count("no response");
        throw isExcused() ? error : violation(`no response: ${error.message}`);
      });
    count(String(status));
    const [pathname = ""] = path.split("?");
    const operation = operations.find((one) => one.method === method && one.pattern.test(pathname));
    const contractViolation =
      operation && contractViolationOf(operation.operationId, { status, headers, body: text });
    if (contractViolation !== undefined) {
      throw violation(`${status}, ${contractViolation}: ${text.slice(0, 500)}`);
    }
    if (expectedStatuses.includes(status) || (excusedStatuses.includes(status) && isExcused())) {
      return { status, headers, text };
    }
    // On a machine that is busy with other programs a statement can take too long, but not again and again.
    if (status !== 504 || attempt >= timeoutsMax) {
      throw violation(`${status}: ${text.slice(0, 500)}`);
    }
    return send(request, expectedStatuses, attempt + 1);
  }
  return { send, [Symbol.asyncDispose]: () => pool.destroy() };
}
