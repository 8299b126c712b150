import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Target } from "./attack.ts";
import { getRequest, oddTexts, openClients, readDocuments, repeat, send } from "./client.ts";

const names = (count: number, prefix = "feature", length = 0) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`.padEnd(length, "x"));

/** Additions of one feature each to some resources in turn. */
const oneEach = (features: string[], resources: number) =>
  features.map((feature, index) => ({ id: String(index % resources), feature }));

/** Additions of one feature to 20,000 resources. */
const haveSame = names(20_000, "id").map((id) => ({ id, feature: "same" }));

const put = (url: string, resource: string, features: string[]) =>
  send(`${url}/features/customer/${resource}`, [200], {
    method: "PUT",
    headers: { "if-match": "*" },
    body: features,
  });

/** Adds features to resources, 1,000 in a request. */
async function add(
  url: string,
  changes: { id: string; feature: string; expires_at?: string }[],
): Promise<void> {
  for (let start = 0; start < changes.length; start += 1000) {
    const part = changes.slice(start, start + 1000);
    const body = { changes: part.map((change) => ({ type: "add", resource: "customer", ...change })) };
    await send(`${url}/changes`, [200], { method: "POST", body });
  }
}

/** Attacks that the service bears before its store, or after it: one store is enough. */
export const attacksOnRequests: Attack<Target>[] = [
  { name: "the first requests for the documents", run: ({ url }) => readDocuments(url) },
  {
    name: "1,500 streams that do not read",
    async run({ url }) {
      const request = getRequest("/changes", "text/event-stream");
      await using _deaf = await openClients(url, 1500, () => request);
      for (let round = 0; round < 20; round += 1) {
        await add(url, oneEach(names(1000, `round${round}`, 200), 1000));
      }
      await sleep(1000);
    },
  },
  {
    name: "400 clients that do not read long lists",
    prepare: ({ url }) => put(url, "1", names(1000, "long", 250)).then(() => {}),
    async run({ url }) {
      await using _deaf = await openClients(url, 400, () => getRequest("/features/customer/1").repeat(3));
      await sleep(3000);
    },
  },
  {
    name: "bodies and headers of every shape",
    async run({ url }) {
      const query = { resources: [{ resource: "customer", id: "1" }], features: ["a"] };
      const bodies = [
        ...oddTexts(1_000_000),
        // Each name of the second body can be a misspelt one.
        ...["m", "features"].map(
          (name) => `{${Array.from({ length: 9000 }, (_, index) => `"${name}${index}":1`).join(",")}}`,
        ),
        `{"resources":[${"{},".repeat(4000)}{}],"features":[${"0,".repeat(4000)}0]}`,
        JSON.stringify({ ...query, features: names(9000) }),
        JSON.stringify({ ...query, x: "a".repeat(1_000_000) }),
      ];
      for (const body of [...bodies, ...bodies]) {
        await repeat(5, 5, () => send(`${url}/query`, [400], { method: "POST", body }));
        await repeat(5, 5, () => send(`${url}/changes`, [400], { method: "POST", body }));
        await repeat(5, 5, () =>
          send(`${url}/features/customer/1`, [400], { method: "PUT", headers: { "if-match": "*" }, body }),
        );
      }
      const headers = (given: Record<string, string>) => ({ headers: given });
      await repeat(50, 10, () => send(`${url}/changes`, [400], headers({ accept: ",".repeat(15_000) })));
      await repeat(50, 10, () =>
        send(`${url}/features/customer/1`, [200], headers({ "if-none-match": '"a",'.repeat(3500) })),
      );
      await repeat(20, 10, () =>
        send(`${url}/features/customer/1`, [412], {
          method: "PUT",
          headers: { "if-match": '"a",'.repeat(3500) },
          body: [],
        }),
      );
    },
  },
  {
    name: "600 bodies of 1 MB that never end",
    async run({ url }) {
      const head = `POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`;
      const part = " ".repeat(999_999);
      await using _deaf = await openClients(url, 600, () => head + part);
      const query = { resources: [{ resource: "customer", id: "1" }], features: ["a"] };
      await repeat(200, 4, async () => {
        await send(`${url}/query`, [200], { method: "POST", body: query });
        await sleep(50);
      });
    },
  },
];

/** Attacks on a store. */
export const attacksOnStores: Attack<Target>[] = [
  {
    name: "queries of 100 resources with 1,000 features, for 100 features each",
    async prepare({ url }) {
      for (let resource = 0; resource < 100; resource += 1) await put(url, String(resource), names(1000));
    },
    async run({ url }) {
      const features = names(100);
      const distinct = names(100, "").map((_, index) => ({ resource: "customer", id: String(index) }));
      const same = distinct.map(() => ({ resource: "customer", id: "1" }));
      await repeat(40, 20, (index) =>
        send(`${url}/query`, [200], {
          method: "POST",
          body: { resources: index % 2 ? same : distinct, features },
        }),
      );
    },
  },
  {
    name: "lists of 1,000 long names, written, read and removed",
    async run({ url }) {
      await repeat(30, 5, async (index) => {
        await put(url, String(index), names(1000, `${index}`, 250));
        await send(`${url}/features/customer/${index}`, [200]);
        await send(`${url}/features/customer/${index}/one-more`, [400], { method: "POST" });
        await send(`${url}/features/customer/${index}`, [204], { method: "DELETE" });
      });
    },
  },
  {
    name: "1,000 streams and changes of 1,000 features",
    async run({ url }) {
      let bytes = 0;
      const request = getRequest("/changes", "text/event-stream");
      await using _streams = await openClients(
        url,
        1000,
        () => request,
        (chunk) => {
          bytes += chunk.length;
        },
      );
      await sleep(500);
      for (let round = 0; round < 3; round += 1) {
        await add(url, oneEach(names(1000, `round${round}`), 1000));
      }
      const expected = 1000 * 3 * 1000 * 100;
      for (let waited = 0; bytes < expected && waited < 20_000; waited += 100) await sleep(100);
      if (bytes < expected) throw new Error(`the streams sent ${bytes} bytes instead of ${expected}`);
    },
  },
  {
    name: "evaluations of 2,000 flags with long names, and 1,500 streams of flags that do not read",
    async prepare({ url }) {
      await put(url, "1", names(1000, "own", 250));
      await put(url, "2", names(1000, "other", 250));
    },
    async run({ url }) {
      const pathOf = (index: number) => `/ofrep/v1/events?resource=customer&id=${index}`;
      await using _deaf = await openClients(url, 1500, (index) => getRequest(pathOf(index)));
      for (let round = 0; round < 10; round += 1) {
        const flags = names(1000, "").map((_, index) => ({
          id: String(index + 3),
          feature: `round${round}`,
        }));
        await add(url, flags);
      }
      await repeat(100, 20, () =>
        send(`${url}/ofrep/v1/evaluate/flags`, [200], {
          method: "POST",
          body: { context: { targetingKey: "customer/1" } },
        }),
      );
    },
  },
  {
    name: "pages of 1,000 entries with long names, and counts",
    async prepare({ url }) {
      for (let resource = 0; resource < 5; resource += 1)
        await put(url, `${resource}`.padEnd(200, "x"), names(1000, `${resource}`, 250));
      await add(url, haveSame);
    },
    async run({ url }) {
      await repeat(200, 20, () => send(`${url}/features?resource=customer&limit=1000`, [200]));
      await repeat(400, 20, () => send(`${url}/features/customer?feature=same&count=true&limit=1000`, [200]));
    },
  },
  {
    name: "50,000 features that expire",
    async prepare({ url }) {
      const changes = [
        ...names(50_000, "f").map((feature, index) => ({ id: `r${index % 1000}-${index >> 15}`, feature })),
        ...names(20_000, "").map((_, index) => ({ id: `${index}`, feature: "same" })),
      ];
      const startedAt = performance.now();
      await add(url, changes.slice(0, 2000));
      // All additions take 35 times as long. If the features expire before the last one, which is then rejected, there is more
      // time in the next attempt.
      let waitMs = 1000 + (performance.now() - startedAt) * 50;
      const addExpiring = async (): Promise<string> => {
        const expires_at = new Date(Date.now() + waitMs).toISOString();
        try {
          const expiring = changes.map((change) => ({ ...change, expires_at }));
          await add(url, expiring);
          return expires_at;
        } catch (error) {
          if (!(error as Error).message.includes("must be in the future")) throw error;
          waitMs *= 3;
          return addExpiring();
        }
      };
      const expires_at = await addExpiring();
      await sleep(Math.max(0, Date.parse(expires_at) - Date.now()));
    },
    async run({ url }) {
      await repeat(100, 5, () => send(`${url}/features/customer?feature=same&limit=1`, [200]));
      await repeat(50, 5, () => send(`${url}/changes?limit=1000`, [200]));
    },
  },
  {
    name: "searches of 100,000 records for the changes of a resource",
    async prepare({ url }) {
      for (let round = 0; round < 100; round += 1) {
        await add(url, oneEach(names(1000, `round${round}`), 200));
      }
    },
    async run({ url }) {
      // Beyond those that wait, a search gets 503.
      await repeat(400, 200, (index) =>
        send(`${url}/resources/customer/${index % 3 ? "absent" : "7"}/changes?limit=1000`, [200, 503]),
      );
      await repeat(60, 4, (index) => send(`${url}/resources/customer/${index}/changes?limit=1000`, [200]));
      await repeat(60, 20, (index) => send(`${url}/resources/customer/${index}`, [200]));
    },
  },
];

/** Attacks on a store that keeps its history. */
export const attacksOnHistory: Attack<Target>[] = [
  {
    name: "the past of a resource with 100,000 changes and of 20,000 resources",
    async prepare({ url }) {
      const features = names(1000, "of a long list", 200);
      for (let round = 0; round < 50; round += 1) {
        await put(url, "1", features);
        await put(url, "1", []);
      }
      await add(url, haveSame);
    },
    async run({ url }) {
      const { changes } = JSON.parse(await send(`${url}/resources/customer/1/changes?limit=1000`, [200])) as {
        changes: { at: string }[];
      };
      const first = Date.parse(changes[0]?.at ?? "");
      const last = Date.now();
      const instant = (index: number) =>
        encodeURIComponent(new Date(first + ((last - first) * (index % 50)) / 50).toISOString());
      await repeat(200, 20, (index) => send(`${url}/features/customer/1?as_of=${instant(index)}`, [200]));
      await repeat(100, 20, (index) =>
        send(`${url}/features/customer?feature=same&limit=1000&as_of=${instant(index)}`, [200]),
      );
      await repeat(200, 20, () => send(`${url}/resources/customer/1/changes?limit=1000`, [200]));
      await repeat(10, 5, async (index) => {
        await put(url, `${index}`, names(1000, "new", 200));
        await send(`${url}/features/customer/${index}`, [204], { method: "DELETE" });
      });
    },
  },
];
