import { expect, test } from "vitest";
import type { Handlers, Response } from "./handlers.ts";

interface Operations {
  getThing: {
    parameters: { query?: never; path: { id: bigint } };
    requestBody?: never;
    responses: {
      200: { content: { "application/json": { amount: number; kind: "a" | "b" } } };
      204: { content?: never };
      404: { content: { "text/plain": string; "application/problem+json": { title: string } } };
    };
  };
}
type GetThing = Response<Operations["getThing"]>;

// Checked by the compiler: it reports an unused @ts-expect-error.
test("a handler can return only responses that its operation declares", () => {
  const valid: GetThing[] = [
    { status: 200, body: { amount: 1, kind: "a" } },
    { status: 204 },
    { status: 404, type: "text/plain", body: "nothing" },
    { status: 404, details: ["nothing"] },
  ];
  const invalid: GetThing[] = [
    // @ts-expect-error the status is not declared
    { status: 201, body: { amount: 1, kind: "a" } },
    // @ts-expect-error a declared member is missing
    { status: 200, body: { amount: 1 } },
    // @ts-expect-error a member has another type
    { status: 200, body: { amount: "1", kind: "a" } },
    // @ts-expect-error a value is not in the enum
    { status: 200, body: { amount: 1, kind: "c" } },
    // @ts-expect-error a member is not declared
    { status: 200, body: { amount: 1, kind: "a", more: true } },
    // @ts-expect-error a 204 has no body
    { status: 204, body: {} },
    // @ts-expect-error the media type is missing and is not JSON
    { status: 404, body: "nothing" },
    // @ts-expect-error the body is that of the other media type
    { status: 404, type: "text/plain", body: { title: "nothing" } },
  ];
  expect([valid.length, invalid.length]).toEqual([4, 8]);
});

test("there is one handler for each operation, and it reads only declared parameters", () => {
  const getThing: Handlers<Operations>["getThing"] = async ({ path }) => {
    // @ts-expect-error the parameter is not declared
    path.name;
    return path.id === 1n ? { status: 204 } : { status: 200, body: { amount: 1, kind: "b" } };
  };
  // @ts-expect-error a handler is missing
  const missing: Handlers<Operations> = {};
  // @ts-expect-error a handler is misspelt
  const misspelt: Handlers<Operations> = { getThing, getThng: getThing };
  expect([missing, misspelt]).toHaveLength(2);
});
