import { Agent, request } from "undici";
import { withoutCredentials } from "../../engines/url.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { baseUrl, type Setting } from "../../process/settings.ts";
import { consistencyProof, type ReadTile } from "./merkle.ts";
import { readNote, readVerifier, signatureLines, type Verifier } from "./note.ts";

/** A witness signs checkpoints of logs that only grow (C2SP tlog-witness). */
export interface WitnessSetting {
  url: URL;
  verifier: Verifier;
}

const witnessesMax = 10;

/** The setting: URLs of witnesses, each with the public key of the witness as its fragment, separated by white space. */
export const witnessUrls: Setting<WitnessSetting[]> = (given = "") => {
  const parts = given.split(/\s+/).filter(Boolean);
  const found = parts.flatMap((part) => {
    const [url = "", ...key] = part.split("#");
    const verifier = readVerifier(key.join("#"));
    const read = baseUrl(url);
    return "value" in read && read.value && verifier?.kind === "witness" ? { url: read.value, verifier } : [];
  });
  if (found.length < parts.length)
    return { must: "must be URLs of http: or https:, each followed by # and the public key of the witness" };
  return found.length > witnessesMax ? { must: `has more than ${witnessesMax} witnesses` } : { value: found };
};

/** Requests the signatures of a checkpoint, each a line. Resolves with none if the witness does not respond, or not with its own. */
export type Witness = (note: string, size: number, read: ReadTile) => Promise<string[]>;

const responseMaxMs = 5000;
const responseBytesMax = 16 * 1024;

export function openWitness({ url, verifier }: WitnessSetting, log: Logger): Witness & AsyncDisposable {
  const agent = new Agent({ connections: 1, bodyTimeout: responseMaxMs, headersTimeout: responseMaxMs });
  const outage = watchOutage(log);
  const address = new URL(`${url.pathname.replace(/\/$/, "")}/add-checkpoint`, url);
  /** The size up to which the witness knows the log. */
  let known = 0;

  async function post(note: string, size: number, read: ReadTile) {
    const proof = await consistencyProof(read, known, size);
    const lines = [`old ${known}`, ...proof.map((hash) => hash.toString("base64")), "", note];
    const signal = AbortSignal.timeout(responseMaxMs);
    const response = await request(address, {
      dispatcher: agent,
      method: "POST",
      body: lines.join("\n"),
      headers: { "content-type": "text/plain; charset=utf-8", "user-agent": "payment-ledger" },
      signal,
    });
    return { status: response.statusCode, text: await textOf(response.body) };
  }

  const witness: Witness = async (note, size, read) => {
    try {
      let { status, text } = await post(note, size, read);
      if (status === 409 && /^\d{1,15}\n$/.test(text) && Number(text) <= size) {
        known = Number(text);
        ({ status, text } = await post(note, size, read));
      }
      if (status !== 200) throw new Error(`it responded with ${status}`);
      const signed = readNote(note + text);
      const lines = signed ? signatureLines(signed, verifier) : [];
      if (lines.length === 0) throw new Error("its response has no signature of the checkpoint");
      known = size;
      outage.succeeded();
      return lines;
    } catch (err) {
      outage.failed("a witness has not signed the checkpoint", {
        err,
        witness: withoutCredentials(url.href),
      });
      return [];
    }
  };
  return Object.assign(witness, { [Symbol.asyncDispose]: () => agent.destroy() });
}

/** The text of a body. Rejects if it is too large. */
async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > responseBytesMax) throw new Error("its response is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
