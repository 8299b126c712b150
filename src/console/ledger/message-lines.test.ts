import { expect, test } from "vitest";
import { linesOf } from "./message-lines.ts";

const message = JSON.stringify({ "a/b": "(text)", event_details: { amount: "(text)", list: {} } }, null, 2);
const marked = (...faults: string[]) =>
  linesOf(message, new Set(faults)).flatMap(({ text, isFault }) => (isFault ? [text.trim()] : []));

test("the lines of faults are marked, and what is absent has a line", () => {
  expect(marked("/event_details/amount", "/a~1b")).toEqual(['"a/b": "(text)",', '"amount": "(text)",']);
  expect(marked("/event_type", "/event_details/reference")).toEqual([
    "(event_type is missing here)",
    "(reference is missing here)",
  ]);
  expect(marked("")).toEqual([]);
});

test("the other lines are those of the message", () => {
  const lines = linesOf(message, new Set(["/event_type"])).filter(({ isFault }) => !isFault);
  expect(lines.map(({ text }) => text).join("")).toBe(`${message}\n`);
});
