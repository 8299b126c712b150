import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { childStory, story } from "../../../testing/messages.ts";
import { ledgerOfFile, payment } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile({ eventWrites: true });

/** Pairs of names that some comparison without letter case, or after a normalization, takes for one. */
const alike = [
  ["beta", "Beta"],
  ["s1", "ſ1"],
  ["k1", "\u212A1"],
  ["é", "e\u0301"],
  ["ß", "ss"],
  ["i1", "İ1"],
  ["a1", "ａ1"],
] as const;

/** What is stored of a resource of each type that has this name, as its other names have. */
function storiesOf(name: string) {
  const details = { gateway_account_id: name, gateway_transaction_id: name, payment_provider: "sandbox" };
  const inPayout = { gateway_payout_id: name };
  const card = { card_brand: "visa", card_brand_label: "Visa" };
  const stories = [
    ...payment(
      name,
      { ...details, ...card, amount: 1 },
      ["11:00", name],
      ["12:00", "PAYMENT_INCLUDED_IN_PAYOUT", inPayout],
    ),
    ...childStory("refund", `child of ${name}`, name, [
      "12:30",
      "REFUND_SUBMITTED",
      { gateway_account_id: name, amount: 1 },
    ]),
    ...story("payout", `payout ${name}`, ["13:00", "PAYOUT_CREATED", details]),
    ...story("agreement", `agreement ${name}`, ["14:00", "AGREEMENT_CREATED", details]),
  ];
  return stories.map((message) => ({ ...message, service_id: name, live: true }));
}

/** Lookups of what an account has under a name. */
const lookups = (name: string, account: string) => [
  `/v1/transaction/${name}?account_id=${account}`,
  `/v1/transaction/${name}/event?gateway_account_id=${account}`,
  `/v1/transaction/${name}/transaction?gateway_account_id=${account}`,
  `/v1/payout/payout%20${name}?gateway_account_id=${account}`,
  `/v1/agreement/agreement%20${name}?account_id=${account}`,
  `/v1/agreement/agreement%20${name}/event?account_id=${account}`,
];

const override = "override_account_id_restriction=true";
const march = "from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z";

/** Lists and sums of what has a name. */
const lists = (name: string) => [
  `/v1/transaction/?account_id=${name}`,
  `/v1/transaction/?${override}&gateway_payout_id=${name}`,
  `/v1/transaction/?${override}&gateway_transaction_id=${name}`,
  `/v1/event?account_id=${name}`,
  `/v1/event?event_types=${name}`,
  `/v1/event/ticker?event_types=${name}&${march}`,
  `/v1/payout?gateway_account_id=${name}`,
  `/v1/agreement?account_id=${name}`,
  `/v1/agreement?service_id=${name}`,
  `/v1/report/transactions?account_id=${name}`,
  `/v1/report/payments_by_state?account_id=${name}`,
];

/** A list without its links, which have the names of the request, and its position, of which each response has another text. */
async function listed(path: string): Promise<string> {
  const { _links, next_cursor, position, ...list } = await ledger.get(path);
  return JSON.stringify(list);
}

test("names that are equal only without letter case, or in another form of Unicode, are different ones", async () => {
  for (const [one, other] of alike) {
    await ledger.store(storiesOf(one));
    const [present, absent] = [one, other].map(encodeURIComponent) as [string, string];
    for (const path of lookups(present, present)) await ledger.get(path);
    for (const path of [...lookups(absent, present), ...lookups(present, absent)])
      expect([path, (await ledger.request(path)).status]).toEqual([path, 404]);
    for (const [index, path] of lists(present).entries()) {
      const none = await listed(lists("nobody")[index] as string);
      // The feed ends before the oldest transaction in flight, of whatever database of the server.
      await eventually(async () => expect([path, await listed(path)]).not.toEqual([path, none]));
      const ofOther = lists(absent)[index] as string;
      expect([ofOther, await listed(ofOther)]).toEqual([ofOther, none]);
    }
  }
});

test("an event in a list is known or new by its names, also if others differ only in letter case", async () => {
  const [event] = payment("written");
  const alikeEvents = [
    event,
    { ...event, resource_external_id: "WRITTEN" },
    { ...event, event_type: "payment_created" },
    // The same instant.
    { ...event, timestamp: event?.timestamp.replace(/(\.0+)?Z$/, "Z") },
    { ...event, event_details: { gateway_account_id: "58" } },
  ];
  const body = JSON.stringify([...alikeEvents, ...alikeEvents.toReversed()]);
  const headers = { "content-type": "application/json" };
  const send = async () => (await ledger.request("/v1/event", { method: "POST", headers, body })).json.events;
  const first: { event_id: number; is_new: boolean }[] = await send();
  const ids = first.map(({ event_id }) => event_id);
  const [own, otherId, otherType] = ids;
  const inPlace = [own, otherId, otherType, own, own];
  expect(new Set(ids).size).toBe(3);
  expect(ids).toEqual([...inPlace, ...inPlace.toReversed()]);
  expect(first.map(({ is_new }) => is_new)).toEqual([true, true, true, ...Array(7).fill(false)]);
  expect(await send()).toEqual(ids.map((event_id) => ({ event_id, is_new: false })));
});

test("what is named twice in a list is in the response once", async () => {
  await ledger.store(storiesOf("twice"), storiesOf("beside"));
  const both = "twice,beside";
  const once = [
    [`/v1/transaction/?account_id=${both}`, "&account_id=twice,twice&account_id[]=beside"],
    [`/v1/transaction/?account_id=${both}&payment_states=created,started`, "&payment_states=created,created"],
    [`/v1/transaction/?account_id=${both}&refund_states=submitted`, "&refund_states=submitted"],
    [`/v1/transaction/?account_id=${both}&card_brands=visa`, "&card_brands=visa&card_brand=visa"],
    [`/v1/event?account_id=${both}`, "&account_id=beside,twice"],
    [`/v1/event?account_id=twice&event_types=PAYMENT_CREATED`, "&event_types=PAYMENT_CREATED"],
    [`/v1/event?account_id=twice&resource_types=payment`, "&resource_types=payment"],
    [`/v1/event/ticker?event_types=PAYMENT_CREATED&${march}`, "&event_types=PAYMENT_CREATED"],
    [`/v1/payout?gateway_account_id=${both}`, "&gateway_account_id=twice,beside"],
    [`/v1/agreement?account_id=twice&account_id=beside`, "&account_id=beside&account_id=twice"],
    [`/v1/agreement?service_id=twice&service_id=beside`, "&service_id=twice&service_id=twice"],
    [`/v1/report/transactions?account_id=${both}`, "&account_id=twice,beside"],
    [`/v1/report/transactions?account_id=${both}&group_by=account,state`, "&account_id=twice,twice"],
    [`/v1/report/transactions?account_id=${both}&payment_states=created`, "&payment_states=created,created"],
  ] as const;
  for (const [path, again] of once) {
    // An event can appear in the feed between the two.
    await eventually(async () =>
      expect([path, await listed(path + again)]).toEqual([path, await listed(path)]),
    );
  }
  const csv = async (path: string) => (await ledger.request(path, { headers: { accept: "text/csv" } })).text;
  const search = `/v1/transaction/?account_id=${both}`;
  expect(await csv(`${search}&account_id=${both}`)).toBe(await csv(search));
  const columns = `/v1/report/transactions?account_id=${both}&group_by=state`;
  expect((await ledger.request(`${columns},state`)).status).toBe(400);
});
