import { beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { type Step, story } from "../../../testing/messages.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { instrumentsMax } from "../tables/payment-instrument.ts";
import { ledgerOfFile, startLedger } from "./ledger.fixture.ts";

// What agreements show and how they are found, whatever their events, is in `model.test.ts`.

const agreement = (id: string, time: string, details: object, ...steps: Step[]) =>
  story("agreement", id, [time, "AGREEMENT_CREATED", details, { service_id: "svc", live: true }], ...steps);
const instrument = (id: string, time: string, agreementId: string, details: object = {}) =>
  story(
    "payment_instrument",
    id,
    [time, "PAYMENT_INSTRUMENT_CREATED", details],
    [`${time}:01`, "PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: agreementId }],
  );

const stories = [
  agreement("agr1", "09:00", { reference: "Permit-7" }, ["09:30", "AGREEMENT_SET_UP"]),
  instrument("ins2", "09:20", "agr1", { card_brand: "visa" }),
  instrument("ins1", "09:10", "agr1", { card_brand: "amex" }),
  agreement("agr2", "09:01", { reference: "PERMIT-70" }),
  ...Array.from({ length: 45 }, (_, n) =>
    agreement(`many${String(n).padStart(2, "0")}`, "12:00", { gateway_account_id: "many" }),
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
    for (const query of ["", "?override_account_or_service_id_restriction=false"])
      expect(await getError(`/v1/agreement/agr1${query}`)).toEqual(missing);
  });

  test("as of an instant uses the events up to it, and the payment instruments of then", async () => {
    const asOf = (time: string) => get(`/v1/agreement/agr1?service_id=svc&as_of=2024-03-05T${time}Z`);
    expect(await asOf("09:00")).toMatchObject({ status: "CREATED", payment_instrument: null });
    expect(await asOf("09:15")).toMatchObject({
      status: "CREATED",
      payment_instrument: { external_id: "ins1", card_details: { card_brand: "amex" } },
    });
    expect(await asOf("11:00")).toMatchObject({
      status: "ACTIVE",
      payment_instrument: { external_id: "ins2", card_details: { card_brand: "visa" } },
    });
  });

  describe("that has changed hands is, as of an instant, that of a service and an account then and now:", () => {
    const day = "2024-03-05";
    beforeAll(() =>
      ledger.store(
        agreement(
          "handed",
          "09:00",
          { reference: "H" },
          ["12:00", "DETAILS", {}, { service_id: "svc2" }],
          ["13:00", "DETAILS", { gateway_account_id: "58" }],
        ),
        agreement("next", "09:00", {}),
        instrument("swapped", "09:10", "handed"),
        story("payment_instrument", "swapped", ["12:00", "OTHER", { agreement_external_id: "next" }]),
        instrument("tie1", "09:05", "handed"),
        instrument("tie2", "09:05", "handed"),
        story(
          "payment_instrument",
          "later",
          ["09:30", "PAYMENT_INSTRUMENT_CREATED"],
          ["14:00", "PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: "handed" }],
        ),
      ),
    );

    test.each([
      ["service_id=svc", "11:00", 404],
      ["service_id=svc2", "11:00", 404],
      ["account_id=57", "11:00", 404],
      ["account_id=58", "11:00", 404],
      ["service_id=svc", "12:30", 404],
      ["service_id=svc2", "12:30", 200],
      ["account_id=58", "12:30", 404],
      ["account_id=58&service_id=svc2", "12:30", 404],
      ["account_id=58&service_id=svc2", "13:30", 200],
      ["account_id=58&service_id=svc", "13:30", 404],
      ["account_id=57", "13:30", 404],
    ])("%s as of %s is %i", async (query, time, status) => {
      for (const path of ["/v1/agreement/handed", "/v1/agreement/handed/event"]) {
        const response = await ledger.request(`${path}?${query}&as_of=${day}T${time}:00Z`);
        expect([path, response.status]).toEqual([path, status]);
      }
    });

    test.each([
      ["handed", "11:00", "svc", "swapped"],
      ["next", "11:00", "svc", undefined],
      ["handed", "12:30", "svc2", "tie2"],
      ["next", "12:30", "svc", "swapped"],
      ["handed", "14:00", "svc2", "later"],
    ])("%s as of %s has the service %s and the payment instrument %s", async (id, time, service, newest) => {
      const query = `override_account_or_service_id_restriction=true&as_of=${day}T${time}:00Z`;
      const { service_id, payment_instrument } = await get(`/v1/agreement/${id}?${query}`);
      expect([service_id, payment_instrument?.external_id]).toEqual([service, newest]);
    });

    test("its events are those up to the instant, with those of the instruments that had named it", async () => {
      const { events } = await get(`/v1/agreement/handed/event?service_id=svc2&as_of=${day}T12:30:00Z`);
      const counts = new Map<string, number>();
      for (const { resource_external_id: id } of events) counts.set(id, (counts.get(id) ?? 0) + 1);
      expect(Object.fromEntries(counts)).toEqual({ handed: 2, swapped: 3, tie1: 2, tie2: 2 });
    });
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
      "header x-consistent must be true or false",
    ]);
  });
});

describe("the search of agreements", () => {
  test("takes accounts and services each alone, in any notation", async () => {
    for (const query of [
      "account_id=57",
      "account_id=57&account_id=58",
      "account_id=57&service_id=svc",
      "account_id=57&status=",
      "account_id=57&status=Created",
      "account_id=57&reference=ERM",
    ])
      expect([query, idsOf(await get(`/v1/agreement/?${query}`)).includes("agr2")]).toEqual([query, true]);
    // A comma is a character of an account.
    expect((await get("/v1/agreement?account_id=57,58")).total).toBe(0);
    const path = "/v1/agreement?override_account_or_service_id_restriction=true&exact_reference_match=true";
    const { results, _links } = await get(`${path}&reference=permit-7`);
    expect(idsOf({ results })).toEqual(["agr1"]);
    expect(_links.self.href).toContain(
      "?reference=permit-7&exact_reference_match=true&override_account_or_service_id_restriction=true&page=1&",
    );
  });

  const path = "/v1/agreement?account_id=many&status=CREATED&live=true&display_size=7";

  test("has pages by number, and links that keep every filter", async () => {
    const { _links, ...second } = await get(`${path}&page=2`);
    expect([second.total, second.count, second.page, idsOf(second)[0]]).toEqual([45, 7, 2, "many37"]);
    const href = (page: number) => ({
      href: `${ledger.base}/v1/agreement?account_id=many&status=CREATED&live=true&page=${page}&display_size=7`,
    });
    expect(_links).toEqual({
      self: href(2),
      first_page: href(1),
      last_page: href(7),
      prev_page: href(1),
      next_page: href(3),
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
    const pages = await ledger.pages(ofAccount, undefined, async (page) => {
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
    expect(first._links.next_page.href).toContain("&cursor=");
    const second = await get(first._links.next_page.href.slice(ledger.base.length));
    expect(idsOf(second)).toEqual(["large1", "large0"]);
    expect(Object.keys(second._links)).toEqual(["self", "first_page"]);
  });

  const restrictionMissing = "One of field [service_id] or field [account_id] are required";
  const tooMany = Array.from({ length: 1001 }, (_, n) => `account_id=${n}`).join("&");
  test.each([
    ["", restrictionMissing],
    ["account_id=&service_id=", "Field [service_id] cannot be empty; Field [account_id] cannot be empty"],
    [
      "account_id=57&status=lost",
      "query parameter status must be one of UNDEFINED, CREATED, ACTIVE, INACTIVE or CANCELLED",
    ],
    ["account_id=57&live=perhaps", "query parameter live must be true or false"],
    ["account_id=57&page=0", "query parameter page must be at least 1"],
    ["account_id=57&display_size=few", "query parameter display_size must be an integer"],
    ["account_id=57&cursor=WzFd", "query parameter cursor must be from a header Link"],
    [
      "account_id=57&gateway_account_id=57",
      "query parameter gateway_account_id is unknown; known: service_id, account_id, ",
    ],
    ["account_id=57&referense=a", "query parameter referense is unknown; is reference meant?"],
    [tooMany, "query parameter account_id must have at most 1,000 elements"],
  ])("rejects %s", async (query, message) => {
    expect(await getError(`/v1/agreement?${query}`)).toEqual([400, expect.stringContaining(message)]);
  });
});

describe("the events of an agreement", () => {
  test("have pages", async () => {
    const steps = Array.from(
      { length: 210 },
      (_, n): Step => [`10:${String(n % 40).padStart(2, "0")}`, `E${n}`],
    );
    await ledger.store(
      agreement("long", "09:00", { gateway_account_id: "59" }, ...steps),
      instrument("longIns", "10:05", "long"),
    );
    const pages = await ledger.pages("/v1/agreement/long/event?account_id=59&extended=true");
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
      "query parameter cursor must be from a header Link",
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
