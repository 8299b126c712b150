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
  info: { title: "Doors", version: "1.0.0" },
  paths: {
    "/door": {
      get: {
        operationId: "getDoor",
        security: [{ bearer: ["door:see"] }, { bearer: ["door:open", "door:close"] }],
        responses: { 200: { description: "the subject of the token", ...body } },
      },
    },
    "/window": {
      get: {
        operationId: "getWindow",
        security: [{ bearer: ["door:see"] }, { token: ["door:see"] }],
        parameters: [{ name: "side", in: "query", schema: { type: "string" } }],
        responses: { 200: { description: "the subject of the token, and the query", ...body } },
      },
    },
  },
  components: {
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer" },
      token: { type: "apiKey", in: "query", name: "key" },
    },
  },
};

/** Starts a service whose operations require a token of this issuer. One accepts it in the query as well. */
async function openDoorService(settings: Parameters<typeof openAuthentication>[0]) {
  const logged: string[] = [];
  const log = openLog("debug", { write: (line) => logged.push(line) });
  const app = await createService<{ getDoor: unknown; getWindow: unknown }>({
    contract,
    security: openAuthentication(settings, log),
    handlers: {
      async getDoor({ caller, log }) {
        log.debug("get door");
        return { status: 200, type: "text/plain", body: String(caller?.claims.sub) } as never;
      },
      async getWindow({ caller, query }) {
        const body = JSON.stringify([caller?.claims.sub, query]);
        return { status: 200, type: "text/plain", body } as never;
      },
    },
    renderError: (_, messages) => ({ type: "text/plain", body: `${messages.join("; ")}\n` }),
    log,
  });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  async function get(path: string, authorization?: string, method: "GET" | "HEAD" = "GET") {
    const { statusCode, headers, body } = await request(base + path, {
      method,
      headers: authorization === undefined ? {} : { authorization },
    });
    return { status: statusCode, challenge: headers["www-authenticate"], text: await body.text() };
  }
  return {
    port: Number(new URL(base).port),
    logged,
    get,
    getDoor: (authorization?: string) => get("/door", authorization),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let doors: Awaited<ReturnType<typeof openDoorService>>;
beforeAll(async () => {
  issuer = await openIssuer();
  doors = await openDoorService(issuer.settings);
});
afterAll(async () => {
  await doors[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const claims = { scope: "door:see", sub: "Zoë" };

describe("the header Authorization", () => {
  test.each(["Bearer", "bearer", "BEARER", "Bearer "])("is accepted with the scheme %j", async (scheme) => {
    expect(await doors.getDoor(`${scheme} ${await issuer.sign(claims)}`)).toMatchObject({
      status: 200,
      text: "Zoë",
    });
  });

  test.each([undefined, "Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "BearerX", "DPoP a.b.c"])(
    "has no bearer token if it is %j",
    async (authorization) => {
      expect(await doors.getDoor(authorization)).toEqual({
        status: 401,
        challenge: 'Bearer scope="door:see"',
        text: "the header Authorization must be Bearer and a token\n",
      });
    },
  );

  test("is rejected if it is repeated, even if one token is valid", async () => {
    const valid = await issuer.sign(claims);
    for (const [first, second] of [
      [valid, "x.y.z"],
      ["x.y.z", valid],
      [valid, valid],
    ]) {
      const socket = connect(doors.port, "127.0.0.1");
      socket.write(
        `GET /door HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${first}\r\nAuthorization: Bearer ${second}\r\n\r\n`,
      );
      const response = await text(socket);
      expect(response).toContain("HTTP/1.1 400");
      expect(response).toContain('www-authenticate: Bearer error="invalid_request"\r\n');
      expect(response).toContain("there is more than one header Authorization\n");
    }
  });
});

describe("a token in the query", () => {
  const invalidRequest = {
    status: 400,
    challenge: 'Bearer error="invalid_request"',
    text: "there is more than one token\n",
  };

  test("is accepted by an operation that declares it, which does not see it", async () => {
    const token = await issuer.sign(claims);
    expect(await doors.get(`/window?key=${token}&side=north`)).toEqual({
      status: 200,
      challenge: undefined,
      text: '["Zoë",{"side":"north"}]',
    });
    expect(await doors.get(`/window?side=%20&key=${token}`)).toMatchObject({ text: '["Zoë",{}]' });
    expect(await doors.get("/window?side=a", `Bearer ${token}`)).toMatchObject({
      text: '["Zoë",{"side":"a"}]',
    });
    expect((await doors.get(`/window?key=${token}`, undefined, "HEAD")).status).toBe(200);
    expect(await doors.get(`/window?key=${token}&surplus=1`)).toMatchObject({ status: 400 });
  });

  test("is verified as one in the header", async () => {
    expect(await doors.get(`/window?key=${await issuer.sign({})}`)).toEqual(
      await doors.get("/window", `Bearer ${await issuer.sign({})}`),
    );
    for (const [name, token] of Object.entries(await issuer.invalidTokens(claims))) {
      const response = await doors.get(`/window?key=${encodeURIComponent(token)}`);
      expect([name, response]).toEqual([name, await doors.getDoor(`Bearer ${token}`)]);
    }
    for (const absent of ["/window", "/window?key=", "/window?key=%20", "/window?Key=x"]) {
      expect(await doors.get(absent)).toEqual(await doors.getDoor());
    }
  });

  test("is 400 beside another token, since a proxy may have checked the other one", async () => {
    const token = await issuer.sign(claims);
    expect(await doors.get(`/window?key=${token}&key=${token}`)).toEqual(invalidRequest);
    expect(await doors.get(`/window?key=${token}`, `Bearer ${token}`)).toEqual(invalidRequest);
    expect(await doors.get(`/window?key=${token}`, "Basic dXNlcjpwYXNz")).toEqual(invalidRequest);
  });

  test("is an unknown parameter of other operations", async () => {
    const token = await issuer.sign(claims);
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
  let ofAnyType: typeof doors;
  beforeAll(async () => {
    ofAnyType = await openDoorService({ ...issuer.settings, AUTH_TOKEN_TYPE: "JWT" });
  });
  afterAll(() => ofAnyType[Symbol.asyncDispose]());

  test.each(["at+jwt", "application/at+jwt", "AT+JWT"])("of type %s is accepted", async (typ) => {
    const token = await issuer.sign(claims, { header: { typ } });
    expect(await doors.getDoor(`Bearer ${token}`)).toMatchObject({ status: 200 });
  });

  test.each<[unknown, number]>([
    ...["JWT", "jwt", "application/jwt", "at+jwt", "application/AT+JWT", undefined].map(
      (typ): [unknown, number] => [typ, 200],
    ),
    ...["logout+jwt", "dpop+jwt", "secevent+jwt", "", null, ["JWT"]].map((typ): [unknown, number] => [
      typ,
      401,
    ]),
  ])("of type %j is %i with AUTH_TOKEN_TYPE=JWT", async (typ, status) => {
    const token = await issuer.sign(claims, { header: { typ } });
    expect(await ofAnyType.getDoor(`Bearer ${token}`)).toMatchObject({
      status,
      text: status === 200 ? "Zoë" : "the token's type (typ) must be JWT or at+jwt, or absent\n",
    });
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
  test.each([
    "door:see",
    "a door:see b",
    "door:close door:open",
    ["door:see"],
    [1, "door:close", "", "door:open"],
  ])("can be %j", async (scope) => {
    expect((await doors.getDoor(`Bearer ${await issuer.sign({ scope })}`)).status).toBe(200);
  });

  test.each(["https://example.test/roles", "constructor", "__proto__"])(
    "is in the claim %s if AUTH_SCOPE_CLAIM says so",
    async (name) => {
      await using service = await openDoorService({ ...issuer.settings, AUTH_SCOPE_CLAIM: name });
      for (const value of ["a door:see", ["a", "door:see"]]) {
        const token = await issuer.sign(Object.fromEntries([[name, value]]));
        expect((await service.getDoor(`Bearer ${token}`)).status).toBe(200);
      }
      expect(await service.getDoor(`Bearer ${await issuer.sign({ scope: "door:see" })}`)).toMatchObject({
        status: 403,
        text: expect.stringMatching(`^the token's claim ${name} lacks the scope door:see; `),
      });
    },
  );

  test.each<[unknown]>(
    [undefined, "", "door", "door:see:not", "door:open", ["a door:see"], { "door:see": true }].map((one) => [
      one,
    ]),
  )("is insufficient if it is %j", async (scope) => {
    expect(await doors.getDoor(`Bearer ${await issuer.sign({ scope })}`)).toEqual({
      status: 403,
      challenge: 'Bearer error="insufficient_scope", scope="door:see"',
      text: "the token's claim scope lacks the scope door:see; the token's claim scope lacks the scope door:open door:close\n",
    });
  });
});

describe("while the keys of the issuer are unavailable", () => {
  const unavailable = {
    status: 503,
    challenge: undefined,
    text: "the keys of the token issuer are unavailable\n",
  };

  test("because it is down, a request with a token is 503, and one without is 401", async () => {
    const stoppedIssuer = await openIssuer();
    await using service = await openDoorService(stoppedIssuer.settings);
    await stoppedIssuer.close();
    const token = await stoppedIssuer.sign(claims);
    expect(await service.getDoor(`Bearer ${token}`)).toEqual(unavailable);
    expect(await service.getDoor()).toMatchObject({ status: 401 });
    const lines = service.logged.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
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
  ])("because it returns %i %s, a request with a token is 503", async (status, keys) => {
    await using server = createServer((_request, response) =>
      response.writeHead(status, { connection: "close", location: "/" }).end(keys),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using service = await openDoorService({
      ...issuer.settings,
      AUTH_JWKS_URL: new URL(`http://127.0.0.1:${port}`),
    });
    expect(await service.getDoor(`Bearer ${await issuer.sign(claims)}`)).toEqual(unavailable);
  });
});

describe("settings", () => {
  const valid = { AUTH_JWKS_URL: "http://a/keys", AUTH_ISSUER: "https://a/", AUTH_AUDIENCE: "service" };
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
    [valid, "on"],
    [{ ...valid, AUTH_JWKS_URL: "https://a/keys" }, "on"],
    [
      { ...valid, AUTH_AUDIENCE: "" },
      "AUTH_AUDIENCE must be set together with AUTH_JWKS_URL and AUTH_ISSUER",
    ],
    [
      { AUTH_AUDIENCE: "service" },
      "AUTH_JWKS_URL must be set together with AUTH_AUDIENCE\nAUTH_ISSUER must be set together with AUTH_AUDIENCE",
    ],
    [{ ...valid, AUTH_TOKEN_TYPE: "JWT", AUTH_SCOPE_CLAIM: "https://a/scope" }, "on"],
    [{ ...valid, AUTH_TOKEN_TYPE: "jws" }, "AUTH_TOKEN_TYPE must be one of at+jwt, JWT"],
    [{ AUTH_TOKEN_TYPE: "", AUTH_SCOPE_CLAIM: "" }, "off"],
    [
      { AUTH_SCOPE_CLAIM: "scp", AUTH_TOKEN_TYPE: "JWT" },
      ["AUTH_TOKEN_TYPE", "AUTH_SCOPE_CLAIM"]
        .map((name) => `${name} must be set together with AUTH_JWKS_URL and AUTH_ISSUER and AUTH_AUDIENCE`)
        .join("\n"),
    ],
    ...["scp roles", " scp", "s\ncp", "s".repeat(201)].map((name): [object, string] => [
      { ...valid, AUTH_SCOPE_CLAIM: name },
      "AUTH_SCOPE_CLAIM must be one name of up to 200 characters, without spaces",
    ]),
    ...["hunter2", "file:///hunter2", "https://user:hunter2@a/", "https://hunter2@a/"].map(
      (url): [object, string] => [
        { ...valid, AUTH_JWKS_URL: url },
        "AUTH_JWKS_URL must be a URL of http: or https:, without credentials",
      ],
    ),
  ])("%j: %s", (environment, outcome) => {
    expect(read(environment)).toBe(outcome);
  });
});
