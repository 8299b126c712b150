import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../../testing/event-stream.ts";
import { eventually } from "../../../testing/eventually.ts";
import { makeKey, openIssuer } from "../../../testing/issuer.ts";
import { openLog } from "../../process/log.ts";
import { readSettings, SettingsError } from "../../process/settings.ts";
import { contractOf, inQuery, operation, serve } from "../service.fixture.ts";
import { authenticationSettings, openAuthentication } from "./authentication.ts";
import type { Caller } from "./security.ts";

const body = { "text/plain": { schema: { type: "string" } } };
const contract = contractOf(
  {
    "/door": {
      get: operation("getDoor", body, {
        security: [{ bearer: ["door:see"] }, { bearer: ["door:open", "door:close"] }],
      }),
    },
    "/window": {
      get: operation("getWindow", body, {
        security: [{ bearer: ["door:see"] }, { token: ["door:see"] }],
        parameters: [inQuery("side", { type: "string" })],
      }),
    },
    "/bell": {
      get: operation("followBell", { "text/event-stream": {} }, { security: [{ bearer: ["door:see"] }] }),
    },
  },
  {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer" },
      token: { type: "apiKey", in: "query", name: "key" },
    },
  },
);
const textOf = (body: string) => ({ status: 200, type: "text/plain", body });
/** They return the subject of the token, and the query. */
const handlers = {
  getDoor: async ({ caller }: { caller: Caller }) => textOf(String(caller.claims.sub)),
  getWindow: async ({ caller, query }: { caller: Caller; query: object }) =>
    textOf(JSON.stringify([caller.claims.sub, query])),
  followBell: async () => ({ status: 200, type: "text/event-stream", body: heartbeats() }),
};
/** A heartbeat at once, and one whenever this is called. */
let beat = () => {};
async function* heartbeats() {
  for (;;) {
    yield ":\n\n";
    await new Promise<void>((resolve) => {
      beat = resolve;
    });
  }
}

/** Starts a service whose operations require a token of this issuer. One accepts it in the query as well. */
async function openDoorService(settings: Parameters<typeof openAuthentication>[0]) {
  const logged: string[] = [];
  const log = openLog("warn", { write: (line) => logged.push(line) });
  const service = await serve(contract, handlers, { security: await openAuthentication(settings, log), log });
  async function get(path: string, authorization?: string, method: "GET" | "HEAD" = "GET") {
    const headers = authorization === undefined ? {} : { authorization };
    const { status, headers: received, text } = await service.send(path, { method, headers });
    return { status, challenge: received["www-authenticate"], text };
  }
  return { ...service, logged, get, getDoor: (authorization?: string) => get("/door", authorization) };
}

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let doors: Awaited<ReturnType<typeof openDoorService>>;
let ofAnyType: typeof doors;
beforeAll(async () => {
  issuer = await openIssuer();
  doors = await openDoorService(issuer.settings);
  ofAnyType = await openDoorService({ ...issuer.settings, AUTH_TOKEN_TYPE: "JWT" });
});
afterAll(async () => {
  for (const one of [ofAnyType, doors, issuer]) await one[Symbol.asyncDispose]();
});

const claims = { scope: "door:see", sub: "Zoë" };

describe("the header Authorization", () => {
  const absent = {
    status: 401,
    challenge: 'Bearer scope="door:see"',
    text: "the header Authorization must be Bearer and a token\n",
  };
  test.each([undefined, "Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "BearerX", "DPoP a.b.c"])(
    "has no bearer token if it is %j",
    async (authorization) => expect(await doors.getDoor(authorization)).toEqual(absent),
  );

  test("is accepted with its scheme in any case", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer "]) {
      const response = await doors.getDoor(`${scheme} ${await issuer.sign(claims)}`);
      expect([scheme, response]).toMatchObject([scheme, { status: 200, text: "Zoë" }]);
    }
  });

  test("is rejected if it is repeated, even if one token is valid", async () => {
    const valid = `authorization: Bearer ${await issuer.sign(claims)}`;
    for (const lines of [
      [valid, "Authorization: Bearer x.y.z"],
      ["Authorization: Bearer x.y.z", valid],
      [valid, valid],
    ]) {
      const head = ["GET /door HTTP/1.1", "host: a", "connection: close", ...lines, "", ""];
      const response = await doors.sendBytes(head.join("\r\n"));
      expect(response).toContain("HTTP/1.1 400");
      expect(response).toContain('www-authenticate: Bearer error="invalid_request"\r\n');
      expect(response).toContain("there is more than one header Authorization\n");
    }
  });
});

describe("a token in the query", () => {
  let token: string;
  beforeAll(async () => {
    token = await issuer.sign(claims);
  });

  test("is accepted by an operation that declares it, which does not see it", async () => {
    const accepted = (query: string, authorization?: string) => doors.get(`/window?${query}`, authorization);
    const text = '["Zoë",{"side":"a"}]';
    expect(await accepted(`key=${token}&side=a`)).toEqual({ status: 200, challenge: undefined, text });
    expect(await accepted(`side=%20&key=${token}`)).toMatchObject({ text: '["Zoë",{}]' });
    expect(await accepted("side=a", `Bearer ${token}`)).toMatchObject({ text });
    expect(await doors.get(`/window?key=${token}`, undefined, "HEAD")).toMatchObject({ status: 200 });
    expect(await accepted(`key=${token}&surplus=1`)).toMatchObject({ status: 400 });
  });

  test("is verified as one in the header", async () => {
    const tokens = { ...(await issuer.invalidTokens(claims)), "without a scope": await issuer.sign({}) };
    for (const [name, token] of Object.entries(tokens)) {
      const response = await doors.get(`/window?key=${encodeURIComponent(token)}`);
      expect([name, response]).toEqual([name, await doors.get("/window", `Bearer ${token}`)]);
    }
    for (const absent of ["/window", "/window?key=", "/window?key=%20", "/window?Key=x"]) {
      expect(await doors.get(absent)).toEqual(await doors.getDoor());
    }
  });

  test.each([
    ["a second one", (key: string) => `${key}&${key}`, undefined],
    ["one in the header", (key: string) => key, "Bearer x.y.z"],
    ["a password in the header", (key: string) => key, "Basic dXNlcjpwYXNz"],
  ])("is 400 beside %s, since a proxy may have checked that", async (_name, query, authorization) => {
    expect(await doors.get(`/window?${query(`key=${token}`)}`, authorization)).toEqual({
      status: 400,
      challenge: 'Bearer error="invalid_request"',
      text: "there is more than one token\n",
    });
  });

  test("is an unknown parameter of other operations", async () => {
    expect(await doors.get(`/door?key=${token}`)).toEqual(await doors.getDoor());
    const { status, text } = await doors.get(`/door?key=${token}`, `Bearer ${token}`);
    expect([status, text.includes(token)]).toEqual([400, false]);
  });
});

test("the response to an invalid token states what is required and does not contain the token", async () => {
  const messages: Record<string, string> = {};
  for (const [name, token] of Object.entries(await issuer.invalidTokens(claims))) {
    const { status, challenge, text } = await doors.getDoor(`Bearer ${token}`);
    expect([name, status, challenge]).toEqual([name, 401, 'Bearer error="invalid_token"']);
    expect(text).not.toContain(token);
    messages[name] = text.trim();
  }
  const algorithms = "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519";
  expect(messages).toEqual({
    "not a JWT": "the token must be a signed JWT",
    "two tokens": "the token must be a signed JWT",
    expired: "the token has expired",
    "not valid yet": "the token is not valid yet (nbf)",
    "of another issuer": "the token's issuer (iss) must be https://issuer.test/",
    "for another audience": "the token's audience (aud) must be https://services.test/",
    "without issuer": "the token's issuer (iss) must be https://issuer.test/",
    "without audience": "the token's audience (aud) must be https://services.test/",
    "without expiry time": "the token must have an expiry time (exp)",
    "with an invalid expiry time": "the token must have an expiry time (exp)",
    unsigned: `the token must be signed by one of ${algorithms}`,
    "unsigned, with a signature": `the token must be signed by one of ${algorithms}`,
    "signed by HS256 with the public key": `the token must be signed by one of ${algorithms}`,
    "signed with an unpublished key": "the token must be signed with a key of its issuer",
    "signed with an unpublished key under the id of a published one": "the token's signature is invalid",
    "with its key in the header": "the token's signature is invalid",
    "with changed claims": "the token's signature is invalid",
    "an identity token": "the token's type (typ) must be at+jwt",
    "without a type": "the token's type (typ) must be at+jwt",
    "with an unknown critical extension": "the token must be a signed JWT",
  });
});

describe("a token", () => {
  test.each<[setting: string, types: unknown[], status: number]>([
    ["at+jwt", ["at+jwt", "application/at+jwt", "AT+JWT"], 200],
    ["JWT", ["JWT", "jwt", "application/jwt", "at+jwt", "application/AT+JWT", undefined], 200],
    ["JWT", ["logout+jwt", "dpop+jwt", "secevent+jwt", "", null, ["JWT"]], 401],
  ])("with AUTH_TOKEN_TYPE=%s and one of the types %j is %i", async (setting, types, status) => {
    const text = status === 200 ? "Zoë" : "the token's type (typ) must be JWT or at+jwt, or absent\n";
    for (const typ of types) {
      const token = await issuer.sign(claims, { header: { typ } });
      const response = await (setting === "JWT" ? ofAnyType : doors).getDoor(`Bearer ${token}`);
      expect([typ, response]).toMatchObject([typ, { status, text }]);
    }
  });

  test("is valid a minute before it begins, since clocks differ, and not after it ends", async () => {
    const nowS = Math.floor(Date.now() / 1000);
    const early = await issuer.sign({ ...claims, nbf: nowS + 50 });
    expect((await doors.getDoor(`Bearer ${early}`)).status).toBe(200);
    const late = await issuer.sign({ ...claims, nbf: nowS - 100, exp: nowS - 1 });
    expect(await doors.getDoor(`Bearer ${late}`)).toMatchObject({
      status: 401,
      text: "the token has expired\n",
    });
  });

  test.each<[claim: "aud" | "iss", values: unknown[], message: string]>([
    [
      "aud",
      [undefined, null, "", " ", [], [""], [null], [[]], 0, 1, true, {}, { 0: "https://services.test/" }],
      "the token's audience (aud) must be https://services.test/",
    ],
    [
      "aud",
      [
        "HTTPS://services.test/",
        "https://Services.test/",
        ["https://services.te\u017Ft/"],
        "https://services.test",
      ],
      "the token's audience (aud) must be https://services.test/",
    ],
    [
      "iss",
      [undefined, null, "", " ", [], [""], ["https://issuer.test/"], 0, true, {}],
      "the token's issuer (iss) must be https://issuer.test/",
    ],
    [
      "iss",
      ["HTTPS://issuer.test/", "https://Issuer.test/", "https://issuer.test", "https://issuer.te\u017Ft/"],
      "the token's issuer (iss) must be https://issuer.test/",
    ],
  ])("whose %s is another one, empty or no text, such as %j, is rejected", async (claim, values, message) => {
    for (const value of values) {
      for (const service of [doors, ofAnyType]) {
        const token = await issuer.sign({ ...claims, [claim]: value as never });
        const response = await service.getDoor(`Bearer ${token}`);
        expect([value, response]).toMatchObject([value, { status: 401, text: `${message}\n` }]);
      }
    }
  });

  test("that a service has accepted is no token of another service, of one with another audience or issuer", async () => {
    const other = { ...issuer.settings, AUTH_AUDIENCE: "https://other.test/" };
    await using ofOtherAudience = await openDoorService(other);
    await using ofOtherIssuer = await openDoorService({
      ...issuer.settings,
      AUTH_ISSUER: "https://other.test/",
    });
    const tokens = [
      [doors, await issuer.sign(claims)],
      [ofOtherAudience, await issuer.sign({ ...claims, aud: other.AUTH_AUDIENCE })],
      [ofOtherIssuer, await issuer.sign({ ...claims, iss: "https://other.test/" })],
    ] as const;
    for (let round = 0; round < 2; round += 1) {
      for (const [accepting, token] of tokens) {
        for (const service of [doors, ofOtherAudience, ofOtherIssuer]) {
          const { status } = await service.getDoor(`Bearer ${token}`);
          expect(status).toBe(service === accepting ? 200 : 401);
        }
      }
    }
  });

  test("has its own claims and scopes among many that are verified at the same time", async () => {
    const tokens = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const scope = index % 3 === 0 ? "door:not" : "door:see";
        return { index, token: await issuer.sign({ sub: `caller ${index}`, scope }) };
      }),
    );
    // Each token is sent before, during and after the verification of the others.
    const sent = [...tokens, ...tokens.toReversed(), ...tokens];
    const responses = await Promise.all(sent.map(({ token }) => doors.getDoor(`Bearer ${token}`)));
    for (const [place, { status, text }] of responses.entries()) {
      const index = sent[place]?.index as number;
      if (index % 3 === 0) expect(status).toBe(403);
      else expect([status, text]).toEqual([200, `caller ${index}`]);
    }
  });

  test("that expires ends a stream at its next heartbeat, also if there is no event", async () => {
    onTestFinished(() => void vi.useRealTimers());
    const now = Date.now();
    vi.setSystemTime(now);
    const token = await issuer.sign({ ...claims, exp: Math.floor(now / 1000) + 30 });
    const stream = await listen(doors.base, "/bell", { authorization: `Bearer ${token}` });
    await eventually(() => expect(stream.text()).toBe(":\n\n"));
    beat();
    await eventually(() => expect(stream.text()).toBe(":\n\n:\n\n"));
    vi.setSystemTime(now + 30_000);
    beat();
    expect(await stream.ended).toBe("by the service");
    expect(stream.text()).toBe(":\n\n:\n\n");
  });

  test("with any other defect is rejected with AUTH_TOKEN_TYPE=JWT too", async () => {
    const { "an identity token": _, "without a type": __, ...invalid } = await issuer.invalidTokens(claims);
    expect(Object.keys(invalid).length).toBeGreaterThan(10);
    for (const [name, token] of Object.entries(invalid)) {
      expect([name, (await ofAnyType.getDoor(`Bearer ${token}`)).status]).toEqual([name, 401]);
    }
  });

  test.each(["RS256", "PS512", "ES384", "EdDSA", "Ed25519"])("signed by %s is accepted", async (alg) => {
    await using otherIssuer = await openIssuer(await makeKey("key", alg));
    await using service = await openDoorService(otherIssuer.settings);
    for (const header of [{}, { kid: undefined }]) {
      const token = await otherIssuer.sign(claims, { header });
      expect(await service.getDoor(`Bearer ${token}`)).toMatchObject({ status: 200 });
    }
  });
});

describe("the scope of a token", () => {
  const lacks = (claim: string) =>
    ["door:see", "door:open door:close"].map(
      (scope) => `the token's claim ${claim} lacks the scope ${scope}`,
    );
  const insufficient = {
    status: 403,
    challenge: 'Bearer error="insufficient_scope", scope="door:see"',
    text: `${lacks("scope").join("; ")}\n`,
  };
  const two = ["door:open", "door:close"];
  test.each<[unknown, boolean]>([
    ["door:see", true],
    ["a door:see b", true],
    ["door:close door:open", true],
    [["door:see"], true],
    [[1, "", ...two], true],
    [undefined, false],
    ["", false],
    ["door", false],
    ["door:see:not", false],
    ["door:open", false],
    [["a door:see"], false],
    [{ "door:see": true }, false],
    [" ", false],
    [[], false],
    [[""], false],
    [[["door:see"]], false],
    [null, false],
    ["Door:see", false],
    ["door:\u017Fee", false],
    ["door:see\u200B", false],
    ["door:see,door:open", false],
    ["door:see\tdoor:open", false],
  ])("that is %j is enough: %s", async (scope, isEnough) => {
    const response = await doors.getDoor(`Bearer ${await issuer.sign({ scope, sub: "Zoë" })}`);
    expect(response).toEqual(isEnough ? { status: 200, challenge: undefined, text: "Zoë" } : insufficient);
  });

  test.each(["https://example.test/roles", "constructor", "__proto__"])(
    "is in the claim %s if AUTH_SCOPE_CLAIM says so",
    async (name) => {
      await using service = await openDoorService({ ...issuer.settings, AUTH_SCOPE_CLAIM: name });
      for (const value of ["a door:see", ["a", "door:see"]]) {
        const token = await issuer.sign(Object.fromEntries([[name, value]]));
        expect((await service.getDoor(`Bearer ${token}`)).status).toBe(200);
      }
      const response = await service.getDoor(`Bearer ${await issuer.sign(claims)}`);
      expect(response).toMatchObject({ status: 403, text: `${lacks(name).join("; ")}\n` });
    },
  );
});

describe("while the keys of the issuer are unavailable", () => {
  const message = "the keys of the token issuer are unavailable";
  const unavailable = { status: 503, challenge: undefined, text: `${message}\n` };

  test("because it is down, a request with a token is 503, and one without is 401", async () => {
    const stoppedIssuer = await openIssuer();
    await using service = await openDoorService(stoppedIssuer.settings);
    await stoppedIssuer.close();
    expect(await service.getDoor(`Bearer ${await stoppedIssuer.sign(claims)}`)).toEqual(unavailable);
    expect(await service.getDoor()).toMatchObject({ status: 401 });
    const lines = service.logged.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ level: 50, msg: message, err: { message: "fetch failed" } }]);
  });

  test.each([
    [500, "{}"],
    [302, ""],
    [200, "<html>"],
    [200, '{"keys": 1}'],
    [200, '{"keys": [{"kty": "EC", "crv": "P-256", "kid": "first", "alg": "ES256", "x": "AA", "y": "AA"}]}'],
  ])("because it returns %i %s, a request with a token is 503", async (status, keys) => {
    await using server = createServer((_request, response) =>
      response.writeHead(status, { connection: "close", location: "/" }).end(keys),
    );
    await once(server.listen(0, "127.0.0.1"), "listening");
    const AUTH_JWKS_URL = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await using service = await openDoorService({ ...issuer.settings, AUTH_JWKS_URL });
    expect(await service.getDoor(`Bearer ${await issuer.sign(claims)}`)).toEqual(unavailable);
  });
});

describe("settings", () => {
  type Environment = Record<string, string>;
  const valid = { AUTH_JWKS_URL: "http://a/keys", AUTH_ISSUER: "https://a/", AUTH_AUDIENCE: "service" };
  const open = async (environment: Environment) =>
    openAuthentication(readSettings(environment, authenticationSettings), openLog("silent"));

  test("turn authentication on if all that is required is set", async () => {
    const more = { AUTH_TOKEN_TYPE: "JWT", AUTH_SCOPE_CLAIM: "https://a/scope" };
    for (const settings of [valid, { ...valid, AUTH_JWKS_URL: "https://a/keys" }, { ...valid, ...more }])
      expect(await open(settings)).toBeDefined();
    const empty = Object.fromEntries(Object.keys({ ...valid, ...more }).map((name) => [name, ""]));
    for (const settings of [{}, empty]) expect(await open(settings)).toBeUndefined();
  });

  const required = Object.keys(valid);
  const together = (name: string, others = required) =>
    `${name} must be set together with ${others.join(" and ")}`;
  const http = "AUTH_JWKS_URL must be a URL of http: or https:, without credentials";
  const oneName = "AUTH_SCOPE_CLAIM must be one name of up to 200 characters, without spaces";
  const urls = ["hunter2", "file:///hunter2", "https://user:hunter2@a/", "https://hunter2@a/"];
  const names = ["scp roles", "s\ncp", "s".repeat(201)];
  test.each<[settings: Environment, ...messages: string[]]>([
    ...["", " ", "\n\t"].flatMap(
      (blank) =>
        [
          [{ ...valid, AUTH_AUDIENCE: blank }, together("AUTH_AUDIENCE", ["AUTH_JWKS_URL", "AUTH_ISSUER"])],
          [{ ...valid, AUTH_ISSUER: blank }, together("AUTH_ISSUER", ["AUTH_JWKS_URL", "AUTH_AUDIENCE"])],
          [{ ...valid, AUTH_JWKS_URL: blank }, together("AUTH_JWKS_URL", ["AUTH_ISSUER", "AUTH_AUDIENCE"])],
        ] as [Environment, string][],
    ),
    [
      { AUTH_AUDIENCE: "a" },
      ...["AUTH_JWKS_URL", "AUTH_ISSUER"].map((one) => together(one, ["AUTH_AUDIENCE"])),
    ],
    [{ AUTH_SCOPE_CLAIM: "scp" }, together("AUTH_SCOPE_CLAIM")],
    [{ AUTH_TOKEN_TYPE: "JWT" }, together("AUTH_TOKEN_TYPE")],
    [{ ...valid, AUTH_TOKEN_TYPE: "jws" }, "AUTH_TOKEN_TYPE must be one of at+jwt, JWT"],
    ...names.map((name) => [{ ...valid, AUTH_SCOPE_CLAIM: name }, oneName] as [Environment, string]),
    ...urls.map((url) => [{ ...valid, AUTH_JWKS_URL: url }, http] as [Environment, string]),
  ])("%j are rejected", async (environment, ...messages) => {
    await expect(open(environment)).rejects.toThrow(new SettingsError(messages));
  });
});
