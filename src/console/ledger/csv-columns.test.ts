import { expect, test } from "vitest";
import contract from "../../../generated/ledger.json" with { type: "json" };
import { columnNames } from "./csv-columns.ts";

test("every column of the contract can be chosen, but those of metadata keys, which the page does not know", () => {
  const { columns, chosen_columns } = contract["x-csv"];
  const names = [...columns.rows, ...chosen_columns.rows].map(({ column }) => column);
  expect(columnNames.toSorted()).toEqual(names.filter((name) => name !== "KEY (metadata)").toSorted());
});
