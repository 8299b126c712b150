import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../testing/event-stream.ts";
import type { EventMessage } from "../testing/messages.ts";
import type { Attack } from "./attack.ts";
import { getRequest, oddTexts, ofAnother, openClients, readDocuments, repeat, send } from "./client.ts";
import type { LedgerTarget } from "./ledger.ts";

/** An attack on the ledger. */
export interface LedgerAttack extends Attack<LedgerTarget> {
  /** The attack needs more data than an embedded database is made for. */
  needsServer?: boolean;
}

const account = { gateway_account_id: "57" };
const mebibyte = 2 ** 20;
const day = Date.UTC(2024, 2, 5);
/** An instant, this many milliseconds after the beginning of the day. */
const at = (milliseconds: number) => new Date(day + milliseconds).toISOString();

const created = (id: string, details: object = {}, members: object = {}): EventMessage => ({
  resource_type: "payment",
  resource_external_id: id,
  event_type: "PAYMENT_CREATED",
  timestamp: at(0),
  event_details: { ...account, amount: 100, reference: `R-${id}`, ...details },
  ...members,
});

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Events of one payment, a millisecond apart. */
const history = (id: string, count: number, details: (index: number) => object): EventMessage[] =>
  times(count, (index) =>
    created(id, details(index), {
      event_type: index === 0 ? "PAYMENT_CREATED" : "PAYMENT_DETAILS_ENTERED",
      timestamp: at(index),
    }),
  );

const members = (count: number, prefix: string) =>
  Object.fromEntries(times(count, (index) => [`${prefix}-${index}`, "v"]));

const note = "x".repeat(1_000_000);

/** Reads each of the paths many times, in turn. */
const readMany = (
  url: string,
  count: number,
  concurrency: number,
  paths: string | string[],
  statuses = [200],
) => {
  const all = [paths].flat();
  return repeat(count, concurrency, (index) => send(url + (all[index % all.length] as string), statuses));
};

type Page = { _links?: { next_cursor?: { href: string } } };

/** Follows the links of an extended list until there are no more. Returns the number of items. */
async function readAll(url: string, path: string, itemsOf: (page: never) => unknown[]): Promise<number> {
  let count = 0;
  for (let next: string | undefined = url + path; next; ) {
    const page: Page = JSON.parse(await send(next, [200]));
    count += itemsOf(page as never).length;
    next = page._links?.next_cursor?.href;
  }
  return count;
}

/** An event of another caller takes longer than this to its stream only if others delay it. */
const streamedMaxMs = 1500;

/** Adds events as another caller, one after another, and waits for each in a stream of that caller. */
async function expectStreamed(url: string, count: number): Promise<void> {
  const stream = await listen(url, "/v1/event?account_id=other&cursor=newest", ofAnother);
  try {
    for (let index = 0; index < count; index += 1) {
      const id = `streamed${index}-${Date.now()}`;
      const body = created(id, { gateway_account_id: "other" });
      await send(`${url}/v1/event`, [202], { method: "POST", headers: ofAnother, body });
      const addedAt = performance.now();
      while (!stream.text().includes(id)) {
        if (performance.now() - addedAt > streamedMaxMs)
          throw new Error(`a stream of another caller did not get its event in time (${streamedMaxMs} ms)`);
        await sleep(10);
      }
    }
  } finally {
    stream.stop();
  }
}

const search = (account: string, more = "") => `/v1/transaction?account_id=${account}${more}`;
const eventsPath = (id: string, more = "") => `/v1/transaction/${id}/event?gateway_account_id=57${more}`;

function expectCount(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`);
}

export const attacksOnLedger: LedgerAttack[] = [
  { name: "the first requests for the documents", run: ({ url }) => readDocuments(url) },
  {
    name: "metadata keys that are all different, exported as CSV",
    prepare: ({ publish }) =>
      publish(
        times(2000, (index) => created(`p${index}`, { external_metadata: members(10, `key-${index}`) })),
      ),
    async run({ url }) {
      await repeat(6, 3, async () => {
        const csv = await send(url + search("57"), [200], { headers: { accept: "text/csv" } });
        expectCount("lines", csv.trim().split("\n").length, 2001);
        if (csv.length > 4 * mebibyte) throw new Error(`the export has ${csv.length} characters`);
      });
    },
  },
  {
    name: "a message with 60,000 metadata keys, and exports after it",
    async run({ url, publish }) {
      await publish([created("p1", { external_metadata: members(60_000, "k") }), created("p2")]);
      await send(url + search("57"), [200], { headers: { accept: "text/csv" } });
    },
  },
  {
    name: "120 events of 1 MB on one payment, in order and late, and every way to read them",
    async run({ url, publish }) {
      const events = history("large", 120, (index) => ({ note: `${index}${note}` }));
      const [first, ...others] = events as [EventMessage, ...EventMessage[]];
      // The first event comes last.
      for (let sent = 0; sent < others.length; sent += 20) await publish(others.slice(sent, sent + 20));
      await publish([first]);
      await readMany(url, 3, 3, "/v1/transaction/large?account_id=57");
      const read = await readAll(
        url,
        eventsPath("large", "&include_all_events=true&extended=true"),
        ({ events }) => events,
      );
      expectCount("events", read, 120);
      await readMany(url, 5, 5, eventsPath("large"));
      await readMany(url, 2, 2, `/v1/transaction/large?account_id=57&as_of=${at(90)}`, [200, 504]);
      await send(url + search("57"), [200]);
    },
  },
  {
    name: "120 payments of 1 MB in one search page",
    prepare: async ({ publish }) => {
      for (let sent = 0; sent < 120; sent += 20) {
        await publish(times(20, (index) => created(`p${sent + index}`, { note })));
      }
    },
    async run({ url }) {
      await repeat(4, 4, async () => {
        const found = await readAll(url, search("57", "&extended=true"), ({ results }) => results);
        expectCount("results", found, 120);
      });
      await repeat(2, 2, () => send(url + search("57"), [200], { headers: { accept: "text/csv" } }));
      await readMany(
        url,
        100,
        100,
        times(100, (index) => `/v1/transaction/p${index}?account_id=57`),
      );
    },
  },
  {
    name: "a payment with 10,000 events, read by many",
    prepare: ({ publish }) => publish(history("long", 10_000, (index) => ({ note: `${index}` }))),
    async run({ url, publish }) {
      await readMany(url, 60, 20, eventsPath("long", "&include_all_events=true"), [200, 503]);
      await readMany(url, 60, 20, eventsPath("long"), [200, 503]);
      await readMany(url, 4, 4, `/v1/transaction/long?account_id=57&as_of=${at(7500)}`, [200, 504]);
      // An event that is older than all others.
      await publish([created("long", { late: true }, { event_type: "PAYMENT_STARTED", timestamp: at(-1) })]);
    },
  },
  {
    name: "10,000 events and 40 of 1 MB in the feed, read by many with every filter, and 800 streams",
    prepare: async ({ publish }) => {
      await publish(history("long", 10_000, (index) => ({ note: `${index}` })));
      await publish(times(20, (index) => created(`large${index}`, { note })));
      await publish(times(20, (index) => created(`larger${index}`, { note })));
    },
    async run({ url, publish }) {
      let read = 0;
      for (let cursor = "", hasMore = true; hasMore; ) {
        const page = JSON.parse(await send(`${url}/v1/event?limit=1000&account_id=57${cursor}`, [200]));
        read += page.events.length;
        cursor = `&cursor=${page.next_cursor}`;
        hasMore = page.has_more;
      }
      expectCount("events", read, 10_040);
      const accounts = times(99, (index) => `account${index}`).join();
      const queries = [
        "limit=1000",
        "event_types=NONE",
        `limit=1000&account_id=57,${accounts}`,
        "resource_types=refund",
      ];
      await repeat(80, 20, (index) =>
        send(`${url}/v1/event?${queries[index % queries.length]}`, [200, 503], {
          headers: { accept: index % 3 === 0 ? "application/x-ndjson" : "application/json" },
        }),
      );
      const { next_cursor } = JSON.parse(await send(`${url}/v1/event?cursor=newest`, [200]));
      await using _deaf = await openClients(url, 800, (index) => {
        const filters = ["", `&account_id=account${index}`, "&event_types=NONE", `&cursor=${next_cursor}`];
        const path = `/v1/event?${filters[index % filters.length]}`.replace("?&", "?");
        return getRequest(path, "text/event-stream");
      });
      for (let round = 0; round < 5; round += 1) {
        await publish(times(50, (index) => created(`round${round}-${index}`)));
        await sleep(500);
      }
    },
  },
  {
    name: "900 streams with filters of their own, beside a stream of another caller",
    prepare: ({ publish }) => publish(history("long", 10_000, (index) => ({ note: `${index}` }))),
    async run({ url }) {
      await using _many = await openClients(
        url,
        900,
        (index) => getRequest(`/v1/event?account_id=account${index}&event_types=NONE`, "text/event-stream"),
        () => {},
      );
      await expectStreamed(url, 10);
    },
  },
  {
    name: "250 searches at a time for accounts with the names of others, beside a stream of another caller",
    async run({ url }) {
      const names = ["event streams", "events", "ticker", "dead-letters", "purpose streams"];
      const more = "&email=abcdef&cardholder_name=abc";
      const paths = [
        ...names.map((name) => search(encodeURIComponent(name), more)),
        ...times(9, (index) => search(`test${index},57`, more)),
        `/v1/agreement?service_id=other`,
      ];
      const searching = readMany(url, 3000, 250, paths, [200, 503, 504]);
      await expectStreamed(url, 10);
      await searching;
    },
  },
  {
    name: "40 requests at a time that rebuild 100 resources with 300 events each",
    prepare: async ({ publish }) => {
      for (let index = 0; index < 100; index += 1)
        await publish(history(`rebuilt${index}`, 300, () => ({ note: `${index}` })));
    },
    async run({ url }) {
      const body = times(100, (index) => ({ ...created(`rebuilt${index}`), reproject_domain_object: true }));
      await repeat(80, 40, () => send(`${url}/v1/event`, [202, 503, 504], { method: "POST", body }));
    },
  },
  {
    name: "300 pages of 500 payments at a time",
    prepare: ({ publish }) =>
      publish(times(2000, (index) => created(`p${index}`, { description: "d".repeat(1000) }))),
    run: ({ url }) => readMany(url, 900, 300, search("57"), [200, 503, 504]),
  },
  {
    name: "12,000 payments of as many accounts and hours, and every report on them",
    needsServer: true,
    prepare: ({ publish }) =>
      publish(
        times(12_000, (index) =>
          created(
            `p${index}`,
            { gateway_account_id: `account ${index}` },
            { event_type: "CAPTURE_CONFIRMED", live: true, timestamp: at(index * 3_600_000) },
          ),
        ),
      ),
    async run({ url }) {
      const dates = "from_date=2024-01-01T00:00:00Z&to_date=2027-01-01T00:00:00Z";
      const report = "/v1/report/transactions?override_account_id_restriction=true";
      const thousand = times(1000, (index) => `account%20${index}`).join(",");
      const accountsAndMonths =
        "/v1/report/gateway-performance-report?from_date=2024-01-01&to_date=2027-01-01";
      const csv = await send(`${url}${report}&group_by=account,day,state&format=csv`, [200]);
      // The header, and the payment of the other caller.
      expectCount("lines", csv.trim().split("\n").length, 12_002);
      const hours: unknown[] = JSON.parse(
        await send(`${url}/v1/report/transactions-by-hour?${dates}`, [200]),
      );
      expectCount("hours", hours.length, 10_000);
      const performance: unknown[] = JSON.parse(await send(url + accountsAndMonths, [200]));
      expectCount("accounts and months", performance.length, 10_000);
      const paths = [
        `${report}&group_by=day,account,live,moto,type,state`,
        `${report}&group_by=day,week,month&time_zone=Europe/London`,
        `${report}&group_by=account,month&format=csv`,
        `/v1/report/transactions-by-hour?${dates}`,
        accountsAndMonths,
        `/v1/report/payments_by_state?override_account_id_restriction=true&${dates}`,
        `/v1/event/ticker?${dates}`,
        `/v1/event/ticker?${dates}&event_types=NONE`,
        `/v1/transaction?account_id=${thousand}`,
        `/v1/transaction?account_id=${thousand}&transaction_type=PAYMENT&reference=none`,
      ];
      await readMany(url, 40, 20, paths, [200, 503, 504]);
    },
  },
  {
    name: "100,000 payments of an account between two midnights, and reports by day in many time zones",
    needsServer: true,
    prepare: async ({ database }) => {
      // Around 23:00 UTC, when a day begins in London, and around 18:30, when it does in Kolkata.
      await database?.within(120_000).run(`
        insert into transaction (external_id, transaction_type, gateway_account_id, state, live, created_date, event_count,
          first_event_id, details)
        select 'midnight' || n, 'PAYMENT', 'midnight', 'SUCCESS', true, timestamptz '2024-06-01T18:00Z'
          + n % 90 * interval '1 day' + n % 2 * interval '5 hours' + n % 3600 * interval '1 second', 1, n, '{"amount": 100}'
        from generate_series(1, 100000) as n`);
    },
    async run({ url }) {
      const report = "/v1/report/transactions?account_id=midnight&group_by=day,state";
      const path = (zone: string) => `${report}&time_zone=${zone}`;
      const whole = [
        "Europe/London",
        "America/New_York",
        "Asia/Tokyo",
        "Pacific/Kiritimati",
        "Pacific/Pago_Pago",
      ];
      const others = ["Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"];
      for (const zone of [...whole, ...others]) {
        const { groups } = JSON.parse(await send(url + path(zone), [200]));
        const count = groups.reduce((sum: number, group: { count: number }) => sum + group.count, 0);
        expectCount(`payments in ${zone}`, count, 100_000);
      }
      await readMany(url, 300, 50, whole.map(path));
      await readMany(url, 40, 20, [...others, "Europe/Nowhere", "%2B05:30"].map(path), [200, 400, 503, 504]);
    },
  },
  {
    name: "a payment with 600 refunds whose details change",
    async run({ url, publish }) {
      await publish([created("parent")]);
      await publish(
        times(600, (index) => ({
          ...created(`refund${index}`, {}, { resource_type: "refund", event_type: "REFUND_CREATED_BY_USER" }),
          parent_resource_external_id: "parent",
        })),
      );
      for (let change = 1; change <= 5; change += 1) {
        const changed = { event_type: "PAYMENT_DETAILS_ENTERED", timestamp: at(change) };
        await publish([created("parent", { email: `${change}@example.com` }, changed)]);
      }
      await readMany(url, 20, 10, "/v1/transaction/parent/transaction?gateway_account_id=57", [200, 503]);
      await readMany(url, 20, 10, eventsPath("parent", "&include_all_events=true"), [200, 503]);
    },
  },
  {
    name: "an agreement with 600 payment instruments and 5,000 events, read by many",
    prepare: async ({ publish }) => {
      const of = (resource_type: string, resource_external_id: string, index: number, details: object) => ({
        ...created(resource_external_id, {}, { event_type: "CHANGED", timestamp: at(index) }),
        resource_type,
        event_details: { ...account, ...details },
      });
      await publish(
        times(5000, (index) =>
          of("agreement", "agr", index, { description: "d".repeat((index * 37) % 3000) }),
        ),
      );
      await publish(
        times(600, (index) =>
          of("payment_instrument", `ins${index}`, index, {
            agreement_external_id: "agr",
            cardholder_name: "n".repeat((index * 53) % 5000),
          }),
        ),
      );
    },
    async run({ url }) {
      const read = await readAll(url, "/v1/agreement/agr/event?extended=true", ({ events }) => events);
      // The agreement has no more payment instruments than the ledger permits.
      expectCount("events", read, 5500);
      await readMany(url, 200, 50, "/v1/agreement/agr?account_id=57", [200, 503]);
      await readMany(url, 60, 20, "/v1/agreement/agr/event?account_id=57", [200, 503]);
      await readMany(url, 20, 10, `/v1/agreement/agr?account_id=57&as_of=${at(4500)}`, [200, 503, 504]);
      await readMany(url, 60, 20, "/v1/agreement?account_id=57&reference=x", [200, 503]);
    },
  },
  {
    name: "60 requests at a time that add 100 events, or 1 MB of every shape",
    async run({ url }) {
      const many = (request: number) =>
        times(100, (index) => created(`added${request}-${index}`, { note: "n".repeat((index * 97) % 9000) }));
      const shapes: unknown[] = [
        ...oddTexts(1_000_000),
        `[${"1,".repeat(90)}1]`,
        `[${"[],".repeat(98)}[]]`,
        [created("large", { note })],
      ];
      await repeat(120, 60, (request) =>
        send(`${url}/v1/event`, request % 2 === 0 ? [202, 503, 504] : [202, 400, 503, 504], {
          method: "POST",
          body: request % 2 === 0 ? many(request) : shapes[((request - 1) / 2) % shapes.length],
        }),
      );
    },
  },
  {
    name: "300 requests at a time that add an event of 1 MB",
    needsServer: true,
    run: ({ url }) =>
      repeat(600, 300, (index) =>
        send(`${url}/v1/event`, [202, 503, 504], {
          method: "POST",
          body: [created(`added${index}`, { note })],
        }),
      ),
  },
  {
    name: "200 requests for metrics at a time, with 200,000 dead letters",
    needsServer: true,
    prepare: async ({ database }) => {
      await database?.within(60_000).run(`
        insert into dead_letter (source_id, body, reason)
        select 'hostile' || n, 'x', 'test' from generate_series(1, 200000) as n`);
    },
    async run({ url }) {
      await readMany(url, 1000, 200, "/metrics");
    },
  },
  {
    name: "200 requests at a time for dead letters of 1 MiB, and for lists of them",
    prepare: ({ publish }) =>
      publish(
        ["language", "email", "unknown"].map((name) =>
          created("large", { [name]: '"'.repeat(mebibyte / 2 - 300) }, { timestamp: "noon" }),
        ),
      ),
    async run({ url }) {
      const { dead_letters } = JSON.parse(await send(`${url}/v1/dead-letter?display_size=3`, [200]));
      const paths = dead_letters.map(
        ({ dead_letter_id }: { dead_letter_id: number }) => `/v1/dead-letter/${dead_letter_id}`,
      );
      await readMany(url, 600, 200, [...paths, "/v1/dead-letter", "/v1/intake"], [200, 503, 504]);
    },
  },
  {
    name: "1,200 slow searches at a time",
    needsServer: true,
    prepare: async ({ database }) => {
      await database?.within(120_000).run(`
        insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date, event_count,
          first_event_id, details, email)
        select 'bulk' || n, 'PAYMENT', '57', 'CREATED', '2024-01-01'::timestamptz + n * interval '1 second', 1, 1,
          '{"gateway_account_id": "57", "amount": 100}', 'name' || n || '@example.com'
        from generate_series(1, 100000) as n`);
    },
    async run({ url }) {
      // A text that nobody has, of one character: every transaction is read.
      await readMany(url, 1200, 1200, search("57", "&email=%23&display_size=1"), [200, 503, 504]);
    },
  },
  {
    name: "300 clients that do not read their search results and exports",
    prepare: ({ publish }) =>
      publish(times(2000, (index) => created(`p${index}`, { description: "d".repeat(3000) }))),
    async run({ url }) {
      await using _deaf = await openClients(url, 300, (index) =>
        getRequest(search("57"), index % 2 === 0 ? "text/csv" : "application/json"),
      );
      await sleep(4000);
    },
  },
  {
    name: "20,000 requests on one connection without reading",
    async run({ url }) {
      await using _deaf = await openClients(url, 4, () => getRequest(search("57")).repeat(5000));
      await sleep(2000);
    },
  },
  {
    name: "long lists, headers and targets",
    async run({ url }) {
      const many = (count: number) => times(count, (index) => `a${index}`).join(",");
      const readFifty = (path: string, statuses: number[]) => readMany(url, 50, 10, path, statuses);
      await readFifty(search(many(1001)), [400]);
      await readFifty(search(many(1000), "&state=success&transaction_type=PAYMENT"), [200, 503]);
      for (const accept of [",".repeat(15_000), "text/csv;q=0.1,".repeat(900)]) {
        await repeat(50, 10, () => send(url + search("57"), [400], { headers: { accept } }));
      }
      await readFifty(search("57", "&x=1".repeat(3000)), [400]);
      await readFifty(`/v1/transaction/${"%F0%9F%92%B7".repeat(1200)}?account_id=57`, [400, 404]);
    },
  },
  {
    name: "messages of 1 MB of every shape",
    async run({ url, publish }) {
      const details = (event_details: unknown) => JSON.stringify(created("shape", {}, { event_details }));
      const bytes = 1_000_000;
      const shapes = [
        details(members(60_000, "m")),
        details({ ...account, list: Array(400_000).fill(1) }),
        details({ ...account, numbers: times(50_000, String) }),
        details({ ...account, text: "\u0001".repeat(bytes / 6.2) }),
        details({ ...account, text: "£".repeat(bytes / 2.2) }),
        // The embedded queue needs the escaped form, which has 12 bytes.
        details({ ...account, text: "💷".repeat(bytes / 12.2) }),
        details({ ...account, text: "\\".repeat(bytes / 2.2) }),
        details(account).replace('"57"', `"57","number":${"9".repeat(bytes)}`),
        details(account).replace('"57"', `"57","list":[${"1.00000000000000000001,".repeat(40_000)}1]`),
        `{"resource_type":${"[".repeat(bytes / 2)}${"]".repeat(bytes / 2)}}`,
        "[".repeat(bytes),
        `{${times(70_000, (index) => `"m${index}":1`).join(",")}}`,
        `"${"a".repeat(bytes)}"`,
        " ".repeat(bytes),
        JSON.stringify({ ...created("sns"), Type: "Notification", Message: "[".repeat(bytes / 2) }),
        JSON.stringify(created("x".repeat(bytes / 2.2))),
        JSON.stringify(created("type", {}, { event_type: "E".repeat(2000) })),
      ];
      await publish([...shapes, ...shapes]);
      await send(url + search("57"), [200]);
    },
  },
];
