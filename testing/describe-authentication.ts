import { request as undiciRequest } from "undici";
import { beforeAll, describe, expect, test } from "vitest";
import type { Issuer } from "./issuer.ts";
import type { Sample } from "./requests.ts";

const scopes = [
  ...["features:read", "features:write", "ledger:read", "ledger:read:all", "ledger:operate", "ledger:write"],
  ...["ledger:audit", "features", "ledger", undefined],
];

/** Describes which tokens each operation of a service accepts. The tokens are for the accounts 56 and 57. */
export function describeAuthentication(
  samples: Record<string, Sample>,
  service: () => { base: string; issuer: Issuer },
): void {
  const secured = Object.entries(samples).filter(([, sample]) => sample.scopes.length > 0);
  const signed = (scope: string | undefined) => service().issuer.sign({ scope, accounts: ["56", "57"] });
  let invalid: Record<string, string>;
  beforeAll(async () => {
    const all = secured.flatMap(([, sample]) => sample.scopes).join(" ");
    invalid = await service().issuer.invalidTokens({ scope: all, accounts: ["57"] });
  });

  async function send({ method, path, headers, body }: Sample, token?: string, verb: string = method) {
    const response = await undiciRequest(service().base + path, {
      method: verb as "GET",
      headers: {
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return {
      status: response.statusCode,
      challenge: response.headers["www-authenticate"],
      etag: response.headers.etag as string | undefined,
      headers: response.headers,
      text: await textOf(response),
    };
  }

  describe.each(secured)("%s", (_, sample) => {
    const required = sample.scopes[0];
    const lacksScope = `Bearer error="insufficient_scope", scope="${required}"`;
    const separator = sample.path.includes("?") ? "&" : "?";
    const wrong = {
      ...sample,
      path: `${sample.path}${separator}surplus=1`,
      ...(sample.body !== undefined && { body: 1 }),
    };

    test("accepts its scopes and no others", async () => {
      for (const scope of [...scopes, `openid ${required}`]) {
        const isEnough = (scope ?? "").split(" ").some((one) => sample.scopes.includes(one));
        const { status, challenge, text } = await send(sample, await signed(scope));
        const seen = [scope, status < 300 ? "success" : status, challenge];
        expect(seen).toEqual([scope, isEnough ? "success" : 403, isEnough ? undefined : lacksScope]);
        if (!isEnough) expect(text).toContain("the token's claim scope lacks the scope ");
      }
    });

    test("requires a token, also for HEAD, before it validates the request", async () => {
      const [enough, none] = [await signed(sample.scopes.at(-1)), await signed(undefined)];
      for (const one of [sample, wrong]) {
        const { status, challenge, text } = await send(one);
        expect([status, challenge]).toEqual([401, `Bearer scope="${required}"`]);
        expect(text).toContain("the header Authorization must be Bearer and a token");
        expect((await send(one, none)).status).toBe(403);
        if (sample.method !== "GET") continue;
        expect(await send(one, undefined, "HEAD")).toMatchObject({ status: 401, text: "" });
        expect((await send(one, none, "HEAD")).status).toBe(403);
      }
      if (sample.method === "GET") expect((await send(sample, enough, "HEAD")).status).toBe(200);
      expect((await send(wrong, enough)).status).toBe(400);
      expect((await send(sample, undefined, "PATCH")).status).toBe(405);
    });

    test("sends nothing for an entity tag to a caller without its scopes, nor says that it is unchanged", async () => {
      const [enough, none] = [await signed(sample.scopes.at(-1)), await signed(undefined)];
      const { etag = '"none"' } = await send(sample, enough);
      for (const known of [etag, "*"]) {
        const conditional = { ...sample, headers: { ...sample.headers, "if-none-match": known } };
        for (const token of [undefined, none]) {
          const { text: _, headers: __, ...plain } = await send(sample, token);
          expect(await send(conditional, token)).toMatchObject(plain);
          expect([401, 403]).toContain(plain.status);
        }
      }
    });

    test("has no host of an untrusted proxy in its response, and its own in none for shared caches", async () => {
      const forged = {
        ...{ host: "forged.test", forwarded: "host=proxy.test;proto=https" },
        ...{ "x-forwarded-host": "proxy.test", "x-forwarded-proto": "https" },
      };
      for (const token of [undefined, await signed(sample.scopes.at(-1))]) {
        const sent = { ...sample, headers: { ...sample.headers, ...forged } };
        const { text, headers } = await send(sent, token);
        const whole = JSON.stringify(headers) + text;
        expect(whole).not.toContain("proxy.test");
        if (whole.includes("forged.test")) expect(headers["cache-control"] ?? "").not.toContain("public");
      }
    });

    test("rejects forged tokens", async () => {
      for (const [name, token] of Object.entries(invalid)) {
        expect([name, (await send(sample, token)).status]).toEqual([name, 401]);
      }
    });
  });

  const documents = ["/docs", "/openapi.yaml", "/openapi.json", "/.well-known/api-catalog"];
  const open = Object.values(samples).filter((sample) => sample.scopes.length === 0);
  test.each([...open.map(({ path }) => path), ...documents])(
    "%s requires no token and ignores one",
    async (path) => {
      const document: Sample = { method: "GET", path, status: 200, scopes: [] };
      expect((await send(document)).status).toBe(200);
      expect((await send(document, "nonsense")).status).toBe(200);
    },
  );
}

/** The text of a response, or the start of an endless stream. */
async function textOf({ headers, body }: Awaited<ReturnType<typeof undiciRequest>>): Promise<string> {
  if (!headers["content-type"]?.includes("text/event-stream")) return await body.text();
  for await (const chunk of body) return String(chunk);
  return "";
}
