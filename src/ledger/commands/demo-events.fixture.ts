import { demoEvents } from "../../../scripts/demo/demo-events.ts";
import { pounds } from "../../values/currency.ts";
import { readMessage } from "../intake/message.ts";

/** The events that the ledger reads from the messages of the demonstration, with duplicates. */
export const readDemoEvents = () =>
  demoEvents().map((message) => {
    const read = readMessage(JSON.stringify(message), pounds);
    if (read.kind !== "event") throw new Error("the messages of the demonstration must be events");
    return read.event;
  });
