import { open } from "node:fs/promises";
import { parseCommandLine, runCommand, say, UsageError } from "../../process/command.ts";
import { openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { parseJson } from "../../values/json.ts";
import { linesOf } from "../../values/lines.ts";
import { openSender, type Sender } from "../queue/sender.ts";
import { settings } from "../settings.ts";

const usage = `Usage: npm run send-events -- FILE

Publishes event messages to the queue at QUEUE_URL. The file has one JSON object on each line; - reads standard
input. The command ends when the queue has accepted all lines. It sends them unchanged; the ledger validates them.
It is safe to send a file again, since an event is stored once.

  --help   print this text
`;

const batch = 100;

await runCommand("send-events", usage, async (args) => {
  const [file, ...more] = parseCommandLine({ args, allowPositionals: true }).positionals;
  if (file === undefined || more.length > 0) throw new UsageError("expected one file (- for standard input)");
  const { QUEUE_URL } = readSettings(process.env, { QUEUE_URL: settings.QUEUE_URL });
  await using sender = await openSender(QUEUE_URL);
  const input = file === "-" ? process.stdin : (await open(file)).createReadStream();
  const sent = await sendLines(sender, linesOf(input));
  say(`sent ${sent} ${sent === 1 ? "message" : "messages"} to ${sender.url}`);
});

async function sendLines(sender: Sender, lines: AsyncIterable<string>): Promise<number> {
  using progress = openProgress("sent");
  let number = 0;
  let bodies: string[] = [];
  async function flush() {
    await sender.send(bodies);
    progress.advance(bodies.length);
    bodies = [];
  }
  try {
    for await (const line of lines) {
      number += 1;
      if (line.trim() === "") continue;
      if (parseJson(line) === undefined) throw new Error(`line ${number} is not JSON`);
      bodies.push(line);
      if (bodies.length === batch) await flush();
    }
    if (bodies.length > 0) await flush();
  } catch (error) {
    throw new Error(`${(error as Error).message}; ${progress.count} messages were sent`);
  }
  return progress.count;
}
