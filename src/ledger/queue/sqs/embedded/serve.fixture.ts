import { say } from "../../../../process/command.ts";
import { openQueue } from "../../queues.ts";

/** Opens the queue of a URL in a process of its own, prints its URL for SQS clients, and keeps it open. */
const { address } = await openQueue(process.argv[2] ?? "");
say(`listening ${address?.url}`);
