import { describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { type Step, story } from "../../testing/messages.ts";
import { ledgerOfFile, startLedger } from "./ledger.fixture.ts";
import { openLedgerDatabase } from "./tables/ledger-database.fixture.ts";
import { instrumentsMax } from "./tables/payment-instrument.ts";

const ofService = { service_id: "svc", live: true };
const agreement = (id: string, time: string, details: object, ...steps: Step[]) =>
  story("agreement", id, [time, "AGREEMENT_CREATED", details, ofService], ...steps);
const instrument = (id: string, time: string, agreementId: string, details: object = {}, ...steps: Step[]) =>
  story(
    "payment_instrument",
    id,
    [time, "PAYMENT_INSTRUMENT_CREATED", details, ofService],
    [`${time}:01`, "PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: agreementId }],
    ...steps,
  );

const card = {
  cardholder_name: "A. Angler",
  address_line1: "1 Quay",
  address_country: "GB",
  last_digits_card_number: "4242",
  first_digits_card_number: "424242",
  expiry_date: "11/29",
  card_brand: "visa",
  card_type: "DEBIT",
  type: "CARD",
};

const stories = [
  agreement(
    "agr1",
    "09:00",
    { reference: "Permit-7", description: "Monthly permit", user_identifier: "u7" },
    ["09:30", "AGREEMENT_SET_UP", { payment_instrument_external_id: "ins2" }],
  ),
  // The newer one is the one that the agreement shows, whatever arrived first.
  instrument("ins2", "09:20", "agr1", card),
  instrument("ins1", "09:10", "agr1", { card_brand: "amex" }),
  // It was an instrument of the agreement, and is that of another one now.
  instrument("ins3", "09:25", "agr1", {}, ["10:00", "X", { agreement_external_id: "agr2" }]),
  agreement("agr2", "09:01", { reference: "PERMIT-70" }, [
    "11:00",
    "AGREEMENT_CANCELLED_BY_USER",
    { user_email: "user@example.org" },
  ]),
  // It arrives before its first event, which is older.
  story("agreement", "agr3", [
    "12:00",
    "AGREEMENT_INACTIVATED",
    { gateway_account_id: "58", reason: "lost" },
  ]),
  agreement("agr3", "08:00", { gateway_account_id: "58", reference: "100%_\\" }),
  story("agreement", "agr4", ["07:00", "SOMETHING"]),
  // Equal dates, and texts of many lengths.
  ...Array.from({ length: 45 }, (_, n) =>
    agreement(`many${String(n).padStart(2, "0")}`, `12:${String(Math.floor(n / 3)).padStart(2, "0")}`, {
      gateway_account_id: "many",
      reference: `${"r".repeat((n * 17) % 250)}-${n}`,
      user_identifier: n,
    }),
  ),
  ...Array.from({ length: 4 }, (_, n) =>
    agreement(`large${n}`, `13:0${n}`, {
      gateway_account_id: "large",
      description: "d".repeat(n === 1 ? 10 : 900_000),
    }),
  ),
  ...Array.from({ length: 2 }, (_, n) =>
    instrument(`largeIns${n}`, `13:1${n}`, "large3", { cardholder_name: "n".repeat(600_000) }),
  ),
];

const ledger = await ledgerOfFile();
await ledger.store(...stories);
const { get, getError } = ledger;
const idsOf = ({ results }: { results?: { external_id: string }[] }) =>
  results?.map(({ external_id }) => external_id) ?? [];

describe("an agreement", () => {
  test("shows every member, with its newest payment instrument", async () => {
    expect(await get("/v1/agreement/agr1?service_id=svc")).toEqual({
      external_id: "agr1",
      service_id: "svc",
      reference: "Permit-7",
      description: "Monthly permit",
      status: "ACTIVE",
      live: true,
      created_date: "2024-03-05T09:00:00.000Z",
      payment_instrument: {
        external_id: "ins2",
        agreement_external_id: "agr1",
        card_details: {
          cardholder_name: "A. Angler",
          billing_address: { line1: "1 Quay", country: "GB" },
          card_brand: "visa",
          last_digits_card_number: "4242",
          first_digits_card_number: "424242",
          expiry_date: "11/29",
          card_type: "debit",
        },
        type: "CARD",
        created_date: "2024-03-05T09:20:00.000Z",
      },
      user_identifier: "u7",
      cancelled_date: null,
      cancelled_by_user_email: null,
    });
  });

  test("shows null for what is not known", async () => {
    expect(await get("/v1/agreement/agr4?account_id=57")).toEqual({
      external_id: "agr4",
      service_id: null,
      reference: null,
      description: null,
      status: "UNDEFINED",
      live: null,
      created_date: "2024-03-05T07:00:00.000Z",
      payment_instrument: null,
      user_identifier: null,
      cancelled_date: null,
      cancelled_by_user_email: null,
    });
    expect(await get("/v1/agreement/agr2?account_id=57")).toMatchObject({
      status: "CANCELLED",
      cancelled_date: "2024-03-05T11:00:00.000Z",
      cancelled_by_user_email: "user@example.org",
      payment_instrument: { external_id: "ins3", card_details: null, type: null },
    });
    expect(await get("/v1/agreement/agr3?account_id=58")).toMatchObject({
      status: "INACTIVE",
      created_date: "2024-03-05T08:00:00.000Z",
      reference: "100%_\\",
    });
  });

  test("with large details is whole", async () => {
    const { description, payment_instrument } = await get("/v1/agreement/large3?account_id=large");
    expect([description.length, payment_instrument.external_id]).toEqual([900_000, "largeIns1"]);
    expect(payment_instrument.card_details.cardholder_name).toHaveLength(600_000);
  });

  test("is found by its account, its service, both, or the override", async () => {
    for (const query of [
      "account_id=57",
      "service_id=svc",
      "account_id=57&service_id=svc",
      "override_account_or_service_id_restriction=TRUE",
      "account_id=&service_id=svc",
    ])
      expect(await get(`/v1/agreement/agr1?${query}`)).toMatchObject({ external_id: "agr1" });
    const [notFound, missing] = [
      [404, "Agreement with id [agr1] not found"],
      [400, "One of [service_id] or [account_id] fields is required"],
    ];
    for (const query of ["account_id=58", "service_id=other", "account_id=58&service_id=svc"])
      expect(await getError(`/v1/agreement/agr1?${query}`)).toEqual(notFound);
    const ofNone = "/v1/agreement/pay1?override_account_or_service_id_restriction=true&account_id=58";
    expect(await getError(ofNone)).toEqual([404, "Agreement with id [pay1] not found"]);
    for (const query of ["", "?account_id=", "?override_account_or_service_id_restriction=false"])
      expect(await getError(`/v1/agreement/agr1${query}`)).toEqual(missing);
  });

  test("as of an instant uses the events up to it, and the payment instruments of then", async () => {
    const asOf = (time: string, id = "agr1") =>
      ledger.request(`/v1/agreement/${id}?service_id=svc&as_of=2024-03-05T${time}Z`);
    expect((await asOf("08:59:59")).status).toBe(404);
    expect((await asOf("09:00")).json).toMatchObject({ status: "CREATED", payment_instrument: null });
    expect((await asOf("09:15")).json).toMatchObject({
      status: "CREATED",
      payment_instrument: { external_id: "ins1", card_details: { card_brand: "amex" } },
    });
    expect((await asOf("09:26")).json).toMatchObject({ payment_instrument: { external_id: "ins3" } });
    expect((await asOf("11:00")).json).toEqual(await get("/v1/agreement/agr1?service_id=svc"));
    expect((await asOf("10:59", "agr2")).json).toMatchObject({ status: "CREATED", cancelled_date: null });
    expect((await asOf("09:00", "agr3")).status).toBe(200);
    expect((await ledger.request("/v1/agreement/agr1?account_id=58&as_of=2024-03-05T12:00Z")).status).toBe(
      404,
    );
  });

  test("keeps its consistency: with `X-Consistent` it is read from the primary database", async () => {
    await using replica = await openLedgerDatabase();
    await using behind = await startLedger({ replica });
    await behind.store(agreement("agr1", "09:00", {}));
    const path = "/v1/agreement/agr1?account_id=57";
    const statusWith = async (headers: Record<string, string>) =>
      (await behind.request(path, { headers })).status;
    expect(await statusWith({})).toBe(404);
    expect(await statusWith({ "X-Consistent": "false" })).toBe(404);
    for (const value of ["true", "TRUE"]) expect(await statusWith({ "x-consistent": value })).toBe(200);
    expect(await getError(path, { "X-Consistent": "perhaps" })).toEqual([
      400,
      "header x-consistent must be boolean",
    ]);
  });
});

describe("the search of agreements", () => {
  test("has the agreements of services and accounts, newest first", async () => {
    const found = await get("/v1/agreement?account_id=57");
    expect(idsOf(found)).toEqual(["agr2", "agr1", "agr4"]);
    expect(found).toMatchObject({ total: 3, count: 3, page: 1 });
    expect(found.results[1]).toEqual(await get("/v1/agreement/agr1?account_id=57"));
    expect(idsOf(await get("/v1/agreement/?account_id=57&account_id=58"))).toEqual([
      "agr2",
      "agr1",
      "agr3",
      "agr4",
    ]);
    expect(idsOf(await get("/v1/agreement?account_id=57&service_id=svc"))).toEqual(["agr2", "agr1"]);
    // A comma is a character of an account.
    expect((await get("/v1/agreement?account_id=57,58")).total).toBe(0);
    const everything = await get(
      "/v1/agreement?override_account_or_service_id_restriction=true&exact_reference_match=true&reference=permit-7",
    );
    expect(idsOf(everything)).toEqual(["agr1"]);
    expect(everything._links.self.href).toContain(
      "?reference=permit-7&exact_reference_match=true&override_account_or_service_id_restriction=true&page=1&",
    );
  });

  test.each([
    ["status=", ["agr2", "agr1", "agr4"]],
    ["status=created", []],
    ["status=Cancelled", ["agr2"]],
    ["status=UNDEFINED", ["agr4"]],
    ["reference=permit-7", ["agr2", "agr1"]],
    ["reference=permit-7&exact_reference_match=true", ["agr1"]],
    ["reference=%25", []],
    ["live=true", ["agr2", "agr1"]],
    ["live=false", []],
    ["live=true&status=active&reference=ERM&service_id=other&service_id=svc", ["agr1"]],
  ])("filters by %s", async (query, ids) => {
    expect(idsOf(await get(`/v1/agreement?account_id=57&${query}`))).toEqual(ids);
  });

  test("takes a text literally", async () => {
    for (const text of ["%", "_", "\\", "100%_\\"])
      expect(idsOf(await get(`/v1/agreement?account_id=58&reference=${encodeURIComponent(text)}`))).toEqual([
        "agr3",
      ]);
  });

  const all = Array.from({ length: 45 }, (_, n) => `many${String(44 - n).padStart(2, "0")}`);
  const path = "/v1/agreement?account_id=many&status=CREATED&live=true&display_size=7";

  test("has pages by number, and links that keep every filter", async () => {
    const ids: string[] = [];
    for (let page = 1; page <= 7; page += 1) ids.push(...idsOf(await get(`${path}&page=${page}`)));
    expect(ids).toEqual(all);
    const { _links } = await get(`${path}&page=2`);
    const href = (page: number) => ({
      href: `${ledger.base}/v1/agreement?account_id=many&status=CREATED&live=true&page=${page}&display_size=7`,
    });
    expect(_links).toEqual({
      self: href(2),
      first_page: href(1),
      last_page: href(7),
      prev_page: href(1),
      next_page: href(3),
      next_cursor: { href: expect.stringContaining("live=true&cursor=") },
    });
    expect(await getError(`${path}&page=8`)).toEqual([404, "the requested page not found"]);
    const capped = await get("/v1/agreement?account_id=many&display_size=21&service_id=svc&service_id=x");
    expect([capped.count, capped._links.self.href.replace(ledger.base, "")]).toEqual([
      20,
      "/v1/agreement?service_id=svc&service_id=x&account_id=many&page=1&display_size=20",
    ]);
  });

  test("has pages by cursor, without the agreements that arrive meanwhile", async () => {
    const ofAccount = "/v1/agreement?account_id=meanwhile&display_size=3";
    const arrive = (id: string, time: string) => agreement(id, time, { gateway_account_id: "meanwhile" });
    await ledger.store(...Array.from({ length: 10 }, (_, n) => arrive(`meanwhile${n}`, `12:0${n}`)));
    const pages = await ledger.pages(ofAccount, "next_cursor", async (page) => {
      if (page === 1) await ledger.store(arrive("late", "12:05"));
    });
    expect(pages.flatMap((page) => idsOf({ results: page.results }))).toEqual(
      Array.from({ length: 10 }, (_, n) => `meanwhile${9 - n}`),
    );
    expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([10]));
    expect((await get(ofAccount)).total).toBe(11);
  });

  test("cuts a page of large agreements short", async () => {
    const first = await get("/v1/agreement?account_id=large");
    expect([first.total, idsOf(first)]).toEqual([4, ["large3", "large2"]]);
    expect(first._links.next_page).toEqual(first._links.next_cursor);
    const second = await get(first._links.next_page.href.slice(ledger.base.length));
    expect(idsOf(second)).toEqual(["large1", "large0"]);
    expect(second._links).not.toHaveProperty("next_cursor");
  });

  test.each([
    ["", "One of field [service_id] or field [account_id] are required"],
    ["account_id=&service_id=", "One of field [service_id] or field [account_id] are required"],
    [
      "account_id=57&status=lost",
      "query parameter status must be one of UNDEFINED, CREATED, ACTIVE, INACTIVE, CANCELLED",
    ],
    ["account_id=57&live=perhaps", "query parameter live must be boolean"],
    ["account_id=57&page=0", "query parameter page must be >= 1"],
    ["account_id=57&display_size=few", "query parameter display_size must be integer"],
    ["account_id=57&cursor=WzFd", "query parameter cursor must be from a link next_cursor"],
    ["account_id=57&gateway_account_id=57", "is unknown; known:"],
    [
      Array.from({ length: 101 }, (_, n) => `account_id=${n}`).join("&"),
      "query parameter account_id must NOT have more than 100 items",
    ],
  ])("rejects %s", async (query, message) => {
    expect(await getError(`/v1/agreement?${query}`)).toEqual([400, expect.stringContaining(message)]);
  });
});

describe("the events of an agreement", () => {
  const eventsOf = (body: { events: { resource_external_id: string; event_type: string }[] }) =>
    body.events.map((event) => `${event.resource_external_id} ${event.event_type}`);

  test("are those of it and of every payment instrument that ever named it, oldest first", async () => {
    const body = await get("/v1/agreement/agr1/event");
    expect(eventsOf(body)).toEqual([
      "agr1 AGREEMENT_CREATED",
      "ins1 PAYMENT_INSTRUMENT_CREATED",
      "ins1 PAYMENT_INSTRUMENT_CONFIRMED",
      "ins2 PAYMENT_INSTRUMENT_CREATED",
      "ins2 PAYMENT_INSTRUMENT_CONFIRMED",
      "ins3 PAYMENT_INSTRUMENT_CREATED",
      "ins3 PAYMENT_INSTRUMENT_CONFIRMED",
      "agr1 AGREEMENT_SET_UP",
      "ins3 X",
    ]);
    expect(body.events[0]).toEqual({
      event_id: expect.any(Number),
      resource_external_id: "agr1",
      resource_type: "AGREEMENT",
      event_type: "AGREEMENT_CREATED",
      timestamp: "2024-03-05T09:00:00.000Z",
      live: true,
      service_id: "svc",
      data: {
        gateway_account_id: "57",
        reference: "Permit-7",
        description: "Monthly permit",
        user_identifier: "u7",
      },
    });
    expect(body.events[2]).toMatchObject({
      resource_type: "PAYMENT_INSTRUMENT",
      live: null,
      service_id: null,
    });
    expect(body).not.toHaveProperty("_links");
  });

  test("as of an instant are those up to it", async () => {
    const body = await get("/v1/agreement/agr1/event?service_id=svc&as_of=2024-03-05T09:10:00Z");
    // The payment instrument had not named the agreement yet.
    expect(eventsOf(body)).toEqual(["agr1 AGREEMENT_CREATED"]);
    expect(
      eventsOf(await get("/v1/agreement/agr1/event?account_id=57&as_of=2024-03-05T09:10:01Z")),
    ).toHaveLength(3);
    expect((await ledger.request("/v1/agreement/agr1/event?as_of=2024-03-05T08:00Z")).status).toBe(404);
  });

  test("have pages", async () => {
    const steps = Array.from(
      { length: 210 },
      (_, n): Step => [`10:${String(n % 40).padStart(2, "0")}`, `E${n}`],
    );
    await ledger.store(
      agreement("long", "09:00", { gateway_account_id: "59" }, ...steps),
      instrument("longIns", "10:05", "long"),
    );
    const pages = await ledger.pages("/v1/agreement/long/event?account_id=59");
    expect(pages.map(({ events }) => events.length)).toEqual([200, 13]);
    const all = pages.flatMap(({ events }) => events);
    expect(new Set(all.map(({ event_id }) => event_id)).size).toBe(213);
    const times = all.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted());
  });

  test("of another service or account, or without events, are not found", async () => {
    for (const path of ["agr1/event?service_id=other", "agr1/event?account_id=58", "none/event"])
      expect(await getError(`/v1/agreement/${path}`)).toEqual([
        404,
        expect.stringMatching(/^Agreement with id \[\w+\] not found$/),
      ]);
    expect(await getError("/v1/agreement/agr1/event?cursor=WzFd")).toEqual([
      400,
      "query parameter cursor must be from a link next_cursor",
    ]);
  });
});

test("an agreement has a limited number of payment instruments", async () => {
  await ledger.database.query(
    `insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
     select 'payment_instrument', 'few' || n, now(), 'A', '{"agreement_external_id": "full"}'
     from generate_series(1, $1::int) as n`,
    [instrumentsMax],
  );
  await ledger.send(...instrument("more", "09:00", "full"));
  await eventually(async () =>
    expect(await ledger.database.query("select reason from dead_letter")).toEqual([
      { reason: "the agreement would have more than 500 payment instruments" },
    ]),
  );
});
