import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { request } from "undici";
import { accounts } from "../ledger-data.ts";
import { startLedger } from "../programs.ts";
import type { Row } from "../row.ts";

export const csv: Row = {
  title: "CSV",
  async open({ ledgers: sizes }, opened, ledgers) {
    const size = sizes.at(-1) as number;
    const databaseUrl = await ledgers.open(size, "one account");
    const service = opened.use(await startLedger(databaseUrl));
    const perSecond = async (read: () => Promise<unknown>) => {
      const start = performance.now();
      await read();
      return (size * 1000) / (performance.now() - start);
    };
    return [
      {
        name: `of ${size} rows`,
        unit: "rows/s",
        ours: () => perSecond(() => download(service.url)),
        baseline: { name: "psql \\copy", measure: () => perSecond(() => copy(databaseUrl)) },
        target: { atLeast: 0.25 },
      },
      {
        name: `of ${size} rows, memory growth of a new process`,
        unit: "MB",
        rounds: 1,
        async ours() {
          await using fresh = await startLedger(databaseUrl);
          return await memoryGrowth(fresh.pid, () => download(fresh.url));
        },
        target: { atMost: 100 },
      },
    ];
  },
};

async function download(url: string): Promise<void> {
  const path = `/v1/transaction?account_id=${accounts.growing}`;
  const { statusCode, body } = await request(url + path, { headers: { accept: "text/csv" } });
  if (statusCode !== 200) throw new Error(`the response to ${path} has status ${statusCode}`);
  await discard(body);
}

async function copy(databaseUrl: string): Promise<void> {
  const script = `\\copy (${columns.replaceAll(/\s+/g, " ")}) to stdout with (format csv, header)`;
  const psql = spawn("psql", ["--no-psqlrc", "--quiet", "--command", script, databaseUrl], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[code], errors] = await Promise.all([once(psql, "close"), text(psql.stderr), discard(psql.stdout)]);
  if (code !== 0) throw new Error(errors);
}

/** Reads a stream as fast as it arrives and discards it. Both sides are read in this way. */
async function discard(stream: Readable): Promise<void> {
  for await (const _chunk of stream);
}

/** The maximum of the resident memory of a process during the work, minus its value before, in MB (10^6 bytes). */
async function memoryGrowth(pid: number, work: () => Promise<void>): Promise<number> {
  const megabytes = async (field: string) => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return (Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024) / 1e6;
  };
  const before = await megabytes("VmRSS");
  // Sets the maximum back to the present value.
  await writeFile(`/proc/${pid}/clear_refs`, "5");
  await work();
  return (await megabytes("VmHWM")) - before;
}

/** The columns of the CSV of the ledger, without its formatting of amounts and times. */
const columns = `
  select reference as "Reference", shown ->> 'description' as "Description", email as "Email",
    details ->> 'amount' as "Amount", shown ->> 'card_brand_label' as "Card Brand",
    cardholder_name as "Cardholder Name", shown ->> 'expiry_date' as "Card Expiry Date",
    last_digits_card_number as "Card Number", state as "State", null as "Finished", null as "Error Code",
    null as "Error Message", gateway_transaction_id as "Provider ID",
    coalesce(parent_external_id, external_id) as "GOV.UK Payment ID", details ->> 'user_email' as "Issued By",
    created_date::date as "Date Created", created_date::time as "Time Created",
    details ->> 'corporate_surcharge' as "Corporate Card Surcharge",
    coalesce(details ->> 'total_amount', details ->> 'amount') as "Total Amount",
    shown ->> 'wallet' as "Wallet Type", shown ->> 'card_type' as "Card Type",
    details ->> 'payment_provider' as "Payment Provider", details ->> 'requires_3ds' as "3-D Secure Required",
    details -> 'external_metadata' ->> 'branch' as "branch (metadata)",
    details -> 'external_metadata' ->> 'case_number' as "case_number (metadata)"
  from transaction, lateral (select coalesce(payment_details, details) as shown) as owner
  where gateway_account_id = '${accounts.growing}'
  order by created_date desc, external_id desc`;
