import { afterAll, beforeAll, expect, test } from "vitest";
import { describeAuthentication } from "../../../testing/describe-authentication.ts";
import { listen } from "../../../testing/event-stream.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type Issuer, openIssuer } from "../../../testing/issuer.ts";
import { featureSamples } from "../../../testing/requests.ts";
import { passTime, stopClock } from "../store/new-store.fixture.ts";
import { startFeatures } from "./features.fixture.ts";

let issuer: Issuer;
let service: Awaited<ReturnType<typeof startFeatures>>;
const disposables = new AsyncDisposableStack();
beforeAll(async () => {
  issuer = disposables.use(await openIssuer());
  service = disposables.use(await startFeatures({ security: issuer.security }));
});
afterAll(() => disposables.disposeAsync());

describeAuthentication(featureSamples, () => ({ base: service.base, issuer }));

test("a rejected request adds nothing", async () => {
  const path = "/features/customer/43/beta";
  const reader = { authorization: `Bearer ${await issuer.sign({ scope: "features:read" })}` };
  expect((await service.request("POST", path)).status).toBe(401);
  expect((await service.request("POST", path, { headers: reader })).status).toBe(403);
  expect((await service.request("GET", path, { headers: reader })).text).toBe('{"result":false}\n');
});

const flagEvents = "/ofrep/v1/events?resource=streamed&id=1";
const flagEvent = 'data: {"type":"refetchEvaluation"}\n\n';
/** The event of the opening and the event of the change. A heartbeat can come between them. */
const twoFlagEvents = new RegExp(`${flagEvent}(:\n\n)*${flagEvent}`);
test.each<[path: string, isInQuery: boolean, opening: string, textOfChange: RegExp]>([
  ["/changes", false, ":\n\n", /"before changes false"}\n\n/],
  [flagEvents, false, `:\n\n${flagEvent}`, twoFlagEvents],
  [flagEvents, true, `:\n\n${flagEvent}`, twoFlagEvents],
])(
  "the stream of %s sends nothing after its token has expired, and ends (token in the query: %s)",
  async (path, isInQuery, opening, textOfChange) => {
    stopClock();
    const scope = "features:read features:write";
    const lasting = { authorization: `Bearer ${await issuer.sign({ scope })}` };
    const change = async (feature: string) => {
      const response = await service.request("POST", `/features/streamed/1/${feature}`, { headers: lasting });
      expect(response.status).toBe(201);
    };
    const token = await issuer.sign({ scope, exp: Math.floor(Date.now() / 1000) + 30 });
    const { response, text, ended } = isInQuery
      ? await listen(service.base, `${path}&access_token=${token}`)
      : await listen(service.base, path, { authorization: `Bearer ${token}` });
    expect([response.statusCode, response.headers["cache-control"]]).toEqual([200, "private, no-store"]);
    await eventually(() => expect(text()).toContain(opening));
    await change(`before ${path} ${isInQuery}`.replaceAll(/\W+/g, " "));
    await eventually(() => expect(text()).toMatch(textOfChange));
    const before = text();
    passTime(30_000);
    await change(`after ${path} ${isInQuery}`.replaceAll(/\W+/g, " "));
    expect(await ended).toBe("by the service");
    expect(text()).toBe(before);
    expect(
      (await service.request("GET", "/changes", { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(401);
  },
);
