import fc from "fast-check";
import { expect, test } from "vitest";
import { openEventParser } from "./event-stream.ts";

const eventsIn = (pieces: string[]) => {
  const parse = openEventParser();
  return pieces.flatMap((piece) => parse(piece));
};

test.each<[text: string, events: string[]]>([
  ["data:a\n\ndata:  b\n\n", ["a", " b"]],
  ["data: a\ndata: b\ndata\ndata:\n\n", ["a\nb\n\n"]],
  ["data\n\ndata:\n\n", ["", ""]],
  ["data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", ["a", "b", "c"]],
  [":\n\n: comment\ndata: a\n:\nid: 1\nevent: x\nretry: 5\nother\n\n", ["a"]],
  ["id: 1\n\n\n\ndata: a\n\n", ["a"]],
  ["database: a\n data: b\nDATA: c\n: data: d\n\n", []],
  ["data: unfinished\n", []],
  ["data: unfinished", []],
])("the events of %j", (text, events) => {
  expect(eventsIn([text])).toEqual(events);
  expect(eventsIn([...text])).toEqual(events);
  expect(eventsIn([...text].flatMap((character) => [character, ""]))).toEqual(events);
});

test("a stream has the data that was written, wherever it is divided and however its lines end", () => {
  const newline = fc.constantFrom("\n", "\r", "\r\n");
  const line = fc.string({ unit: fc.constantFrom("a", ":", " ", "{", '"', "💷", "\u2028", "data", "id:") });
  const event = fc.record({
    data: fc.array(line, { minLength: 1, maxLength: 3 }),
    before: fc.array(fc.constantFrom(":", ": data: x", "id: 7", "event: y", "nothing"), { maxLength: 2 }),
    newline,
  });
  const stream = fc.record({
    events: fc.array(event, { maxLength: 5 }),
    cuts: fc.array(fc.nat(), { maxLength: 20 }),
  });
  const property = fc.property(stream, ({ events, cuts }) => {
    const text = events
      .map(({ data, before, newline }) =>
        [...before, ...data.map((one) => `data: ${one}`), "", ""].join(newline),
      )
      .join("");
    const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
    const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
    expect(pieces.join("")).toBe(text);
    expect(eventsIn(pieces)).toEqual(events.map(({ data }) => data.join("\n")));
  });
  fc.assert(property, { numRuns: 1000 });
});
