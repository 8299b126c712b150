import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeKey, openIssuer } from "../../testing/issuer.ts";
import { openLog } from "../process/log.ts";
import { readSettings } from "../process/settings.ts";
import { authenticationSettings, openAuthentication } from "./authentication.ts";
import { createService } from "./service.ts";

const body = { content: { "text/plain": { schema: { type: "string" } } } };
const contract = {
  openapi: "3.1.0",
  info: { title: "A door", version: "1.0.0" },
  paths: {
    "/door": {
      get: {
        operationId: "getDoor",
        security: [{ bearer: ["door:see"] }, { bearer: ["door:open", "door:close"] }],
        responses: { 200: { description: "who asks", ...body } },
      },
    },
  },
  components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
};

/** A door behind tokens of the issuer that the settings name. */
async function openDoor(settings: Parameters<typeof openAuthentication>[0]) {
  const logged: string[] = [];
  const log = openLog("debug", { write: (line) => logged.push(line) });
  const app = await createService<{ getDoor: unknown }>({
    contract,
    security: openAuthentication(settings, log),
    handlers: {
      async getDoor({ caller, log }) {
        log.debug("the door is seen");
        return { status: 200, type: "text/plain", body: String(caller?.claims.sub) } as never;
      },
    },
    renderError: (_, messages) => ({ type: "text/plain", body: `${messages.join("; ")}\n` }),
    log,
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  return {
    port: Number(new URL(base).port),
    logged,
    async ask(authorization?: string) {
      const { statusCode, headers, body } = await request(`${base}/door`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      return { status: statusCode, challenge: headers["www-authenticate"], text: await body.text() };
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let door: Awaited<ReturnType<typeof openDoor>>;
beforeAll(async () => {
  issuer = await openIssuer();
  door = await openDoor(issuer.settings);
});
afterAll(async () => {
  await door[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const see = { scope: "door:see", sub: "Zoë" };

describe("the header Authorization", () => {
  test.each(["Bearer", "bearer", "BEARER", "Bearer "])("is read with the scheme %j", async (scheme) => {
    expect(await door.ask(`${scheme} ${await issuer.sign(see)}`)).toMatchObject({ status: 200, text: "Zoë" });
  });

  test.each([undefined, "Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "BearerX", "DPoP a.b.c"])(
    "is no bearer token as %j",
    async (authorization) => {
      expect(await door.ask(authorization)).toEqual({
        status: 401,
        challenge: 'Bearer scope="door:see"',
        text: "the header Authorization must be Bearer and a token\n",
      });
    },
  );

  test("is refused when it is repeated, whichever of them is good", async () => {
    const good = await issuer.sign(see);
    for (const [first, second] of [
      [good, "x.y.z"],
      ["x.y.z", good],
      [good, good],
    ]) {
      const socket = connect(door.port, "127.0.0.1");
      socket.write(
        `GET /door HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${first}\r\nAuthorization: Bearer ${second}\r\n\r\n`,
      );
      const reply = await text(socket);
      expect(reply).toContain("HTTP/1.1 400");
      expect(reply).toContain('www-authenticate: Bearer error="invalid_request"\r\n');
      expect(reply).toContain("there is more than one header Authorization\n");
    }
  });
});

test("a token that is not good is told why, and what would be right, without its text", async () => {
  const told: Record<string, string> = {};
  for (const [name, token] of Object.entries(await issuer.forgeries(see))) {
    const { status, challenge, text } = await door.ask(`Bearer ${token}`);
    expect([name, status, challenge]).toEqual([name, 401, 'Bearer error="invalid_token"']);
    expect(text).not.toContain(token);
    told[name] = text.trim();
  }
  const algorithms = "RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519";
  expect(told).toEqual({
    "that is no JWT": "the token must be a signed JWT",
    "that is two tokens": "the token must be a signed JWT",
    "that has expired": "the token has expired",
    "that is not valid yet": "the token is not valid yet (nbf)",
    "of another issuer": "the token's issuer (iss) must be https://issuer.test/",
    "for another audience": "the token's audience (aud) must be https://services.test/",
    "without issuer": "the token's issuer (iss) must be https://issuer.test/",
    "without audience": "the token's audience (aud) must be https://services.test/",
    "that never expires": "the token must have an expiry time (exp)",
    "that expires at no time": "the token must have an expiry time (exp)",
    "that is unsigned": `the token must be signed by one of ${algorithms}`,
    "that is unsigned, with a signature": `the token must be signed by one of ${algorithms}`,
    "signed by HS256 with the public key": `the token must be signed by one of ${algorithms}`,
    "signed with a key nobody published": "the token must be signed with a key of its issuer",
    "signed with another key under the name of a good one": "the token's signature is invalid",
    "with a key of its own": "the token's signature is invalid",
    "whose claims were changed": "the token's signature is invalid",
    "that is an identity token": "the token's type (typ) must be at+jwt",
    "without a type": "the token's type (typ) must be at+jwt",
    "with a critical extension nobody knows": "the token must be a signed JWT",
  });
});

test.each(["at+jwt", "application/at+jwt", "AT+JWT"])("a token is of type %s", async (typ) => {
  expect(await door.ask(`Bearer ${await issuer.sign(see, { header: { typ } })}`)).toMatchObject({
    status: 200,
  });
});

test.each(["RS256", "PS512", "ES384", "EdDSA", "Ed25519"])("a token is signed by %s", async (alg) => {
  await using another = await openIssuer(await makeKey("key", alg));
  await using own = await openDoor(another.settings);
  expect(await own.ask(`Bearer ${await another.sign(see)}`)).toMatchObject({ status: 200 });
  expect(await own.ask(`Bearer ${await another.sign(see, { header: { kid: undefined } })}`)).toMatchObject({
    status: 200,
  });
});

describe("the scope of a token", () => {
  test.each(["door:see", "a door:see b", "door:close door:open"])("may be %j", async (scope) => {
    expect((await door.ask(`Bearer ${await issuer.sign({ scope })}`)).status).toBe(200);
  });

  test.each<[unknown]>([[undefined], [""], ["door"], ["door:see:not"], ["door:open"], [["door:see"]]])(
    "must not be %j",
    async (scope) => {
      expect(await door.ask(`Bearer ${await issuer.sign({ scope })}`)).toEqual({
        status: 403,
        challenge: 'Bearer error="insufficient_scope", scope="door:see"',
        text: "the token lacks the scope door:see; the token lacks the scope door:open door:close\n",
      });
    },
  );
});

test("no token is in the log", async () => {
  const tokens = [
    await issuer.sign(see),
    await issuer.sign({}),
    ...Object.values(await issuer.forgeries(see)),
  ];
  for (const token of tokens) await door.ask(`Bearer ${token}`);
  expect(door.logged.length).toBeGreaterThan(0);
  for (const token of tokens) expect(door.logged.join("")).not.toContain(token);
});

describe("when the keys cannot be had", () => {
  const away = {
    status: 503,
    challenge: undefined,
    text: "the keys of the token issuer are unavailable\n",
  };

  test("since nobody answers, a token is neither good nor bad; without one it is still 401", async () => {
    const gone = await openIssuer();
    await using own = await openDoor(gone.settings);
    await gone.close();
    const token = await gone.sign(see);
    expect(await own.ask(`Bearer ${token}`)).toEqual(away);
    expect(await own.ask()).toMatchObject({ status: 401 });
    const lines = own.logged.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 50,
        msg: "the keys of the token issuer are unavailable",
        err: expect.objectContaining({ message: "fetch failed" }),
      }),
    ]);
  });

  test.each([
    [500, "{}"],
    [302, ""],
    [200, "<html>"],
    [200, '{"keys": 1}'],
    [200, '{"keys": [{"kty": "EC", "crv": "P-256", "kid": "first", "alg": "ES256", "x": "AA", "y": "AA"}]}'],
  ])("since %i %s is what is answered", async (status, keys) => {
    await using server = createServer((_request, response) =>
      response.writeHead(status, { connection: "close", location: "/" }).end(keys),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using own = await openDoor({
      ...issuer.settings,
      AUTH_JWKS_URL: new URL(`http://127.0.0.1:${port}`),
    });
    expect(await own.ask(`Bearer ${await issuer.sign(see)}`)).toEqual(away);
  });
});

describe("settings", () => {
  const good = { AUTH_JWKS_URL: "http://a/keys", AUTH_ISSUER: "https://a/", AUTH_AUDIENCE: "us" };
  const read = (environment: object) => {
    try {
      return openAuthentication(readSettings({ ...environment }, authenticationSettings), openLog("silent"))
        ? "on"
        : "off";
    } catch (error) {
      return (error as Error).message;
    }
  };

  test.each<[object, string]>([
    [{}, "off"],
    [{ AUTH_JWKS_URL: "", AUTH_ISSUER: "", AUTH_AUDIENCE: "" }, "off"],
    [good, "on"],
    [{ ...good, AUTH_JWKS_URL: "https://a/keys" }, "on"],
    [{ ...good, AUTH_AUDIENCE: "" }, "AUTH_AUDIENCE must be set together with AUTH_JWKS_URL and AUTH_ISSUER"],
    [
      { AUTH_AUDIENCE: "us" },
      "AUTH_JWKS_URL must be set together with AUTH_AUDIENCE\nAUTH_ISSUER must be set together with AUTH_AUDIENCE",
    ],
    ...["hunter2", "file:///hunter2", "https://user:hunter2@a/", "https://hunter2@a/"].map(
      (url): [object, string] => [
        { ...good, AUTH_JWKS_URL: url },
        "AUTH_JWKS_URL must be a URL of http: or https:, without credentials",
      ],
    ),
  ])("%j: %s", (environment, outcome) => {
    expect(read(environment)).toBe(outcome);
  });
});
