import { expect, test } from "vitest";
import { agreementNamedBy } from "./payment-instrument.ts";

test.each<[unknown, string | null]>([
  ["agr", "agr"],
  [5, "5"],
  [{}, null],
  ["", null],
  ["x".repeat(256), null],
])("details with the agreement %j name %j", (agreement_external_id, name) => {
  expect(agreementNamedBy({ agreement_external_id } as object)).toBe(name);
});
