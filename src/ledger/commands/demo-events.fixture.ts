import { readMessage } from "../intake/message.ts";
import { demoEvents } from "./demo-events.ts";

/** The demonstration's events as the ledger reads them, some twice. */
export const readDemoEvents = () =>
  demoEvents().map((message) => {
    const read = readMessage(JSON.stringify(message));
    if (read.kind !== "event") throw new Error("the demonstration's events are events");
    return read.event;
  });
