import { runCommand, say } from "../../src/process/command.ts";
import { readOptions, wholeNumber } from "../../testing/options.ts";
import { featuresSubject, ledgerSubject } from "./evidence/subjects.ts";
import { tryRemedies } from "./remedies/trial.ts";

const defaultRequests = 2000;
/** The smallest share of the requests that can be mended and that one remedy mends. */
const mendedMin = 0.95;

const percent = (share: number) => `${(100 * share).toFixed(2)} %`;

const usage = `Usage: npm run remedies [-- --seed S] [--requests N]

Sends valid requests to both services, each with one mistake at a random place: another type, range, format, letter case, a
letter wrong in a name, an unknown member, a list in another form. A program applies the remedies of each error response,
and sends the request again.
Exit code: 1 if fewer than ${percent(mendedMin)} of the requests that can be mended succeed then, if a remedy changes a part that was
right, or if there is a remedy where no correction is safe.

  --seed S      selects the requests and mistakes; printed, to repeat a run. Default: random
  --requests N  number of requests with a mistake to each service. Default: ${defaultRequests}
  --help        print this text
`;

await runCommand("remedies", usage, async (args) => {
  const options = readOptions(args, ["seed", "requests"]);
  const seed = wholeNumber("seed", options.seed ?? String(Math.floor(Math.random() * 1_000_000)));
  const requests = wholeNumber("requests", options.requests ?? String(defaultRequests));
  say(`seed ${seed}, ${requests} requests to each service`);
  const faults: string[] = [];
  for (const open of [ledgerSubject, featuresSubject]) {
    await using subject = await open();
    const { title } = subject.contract.info;
    const { mendable, mended, unclear, missed, wrong } = await tryRemedies(subject, requests, seed, (done) =>
      say(`${title}: ${done} of ${requests} requests`),
    );
    const share = mended / mendable;
    say(`${title}: ${mended} of ${mendable} requests that can be mended are mended (${percent(share)})`);
    for (const [reason, count] of unclear) say(`${title}: ${count} cannot be mended: ${reason}`);
    for (const one of missed) say(`${title}: not mended: ${one}`);
    faults.push(...wrong.map((one) => `${title}: wrong remedy: ${one}`));
    if (!(share >= mendedMin))
      faults.push(`${title}: ${percent(share)} are mended, and ${percent(mendedMin)} must be`);
  }
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));
});
