import { isIP } from "node:net";
import { Admin, type BaseOptions, Producer } from "@platformatic/kafka";
import type { Address } from "../../../engines/adapter.ts";
import { hostOf } from "../../../engines/url.ts";
import { type OnDemand, onDemand } from "../../../waiting/on-demand.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import type { KafkaParameters } from "../parameters.ts";
import { createMissing, explained, isTimeout, type Topics } from "./topics.ts";

const requestMaxMs = 5000;
const workMaxMs = 15_000;
export const defaultPort = 9092;

export const silent = new Error("the brokers do not respond");

/** The clients of this process that are no members of a group. */
export interface Clients {
  admin: Admin;
  producer: Producer;
  /** The next call opens other clients. Returns true unless it does so already. */
  forget(): boolean;
}

/** The options of each further client. */
export function clientOptions({ url, others, parameters }: Address<KafkaParameters>): () => BaseOptions {
  const brokers = [url, ...others].map((each) => ({
    host: hostOf(each),
    port: Number(each.port || defaultPort),
  }));
  const username = decodeURIComponent(url.username);
  const sasl = { mechanism: parameters.sasl, username, password: decodeURIComponent(url.password) };
  return () => {
    // The client begins with the first host, which may accept connections and not respond: another one the next time.
    brokers.push(...brokers.splice(0, 1));
    return {
      clientId: "payment-ledger",
      bootstrapBrokers: [...brokers],
      ...(url.protocol === "kafkas:" && { tls: {}, tlsServerName: isIP(hostOf(url)) === 0 }),
      ...(username && { sasl }),
      connectTimeout: requestMaxMs,
      requestTimeout: requestMaxMs,
      timeout: requestMaxMs,
      retries: 2,
      retryDelay: 200,
    };
  };
}

/** A message that is sent again, because its confirmation was lost, is stored once. A new leader is available after seconds. */
const sending = { idempotent: true, retries: 10, retryDelay: 500 };

/** Missing topics are created when clients are opened. */
export const clientsOnDemand = (options: () => BaseOptions, topics: Topics): OnDemand<Clients> =>
  onDemand(async (forget) => {
    const common = options();
    const admin = new Admin(common);
    await createMissing(admin, topics).catch(async (error) => {
      await admin.close();
      throw explained(error);
    });
    return { admin, producer: new Producer({ ...common, ...sending }), forget };
  });

export const closeClients = (clients: Clients | undefined) =>
  Promise.allSettled([clients?.producer.close(), clients?.admin.close()]);

/** Does work with the clients. If a broker is silent, the next call opens other connections. */
export async function withClients<Result>(
  clients: OnDemand<Clients>,
  work: (clients: Clients) => Promise<Result>,
): Promise<Result> {
  const opened = await clients.open();
  try {
    return await withTimeout(work(opened), workMaxMs, silent);
  } catch (error) {
    if ((error === silent || isTimeout(error)) && opened.forget()) void closeClients(opened);
    throw explained(error);
  }
}
