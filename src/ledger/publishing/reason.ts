/**
 * Why an attempt has failed. A reason is shown where callers need no token, in the log and to operators, so it is a sentence of
 * ours with at most a status or a code: the text of an error can quote the event, and that of a file names a folder of the machine.
 */

/** The reasons without a status or a code. */
export const reasons = {
  tooLarge: "the event is larger than 256 KiB",
  longRoutingKey: "the routing key is longer than 255 bytes, since the type of the event is",
  unconfirmed: "the broker does not confirm a message",
  rejected: "the broker does not accept a message",
  silent: "the broker does not respond",
};

const responded = "the target responded with";
const noResponse = "there is no response";
const notWritten = "the file cannot be written";

/**
 * A code of Node.js, of a client or of a service, such as `ECONNREFUSED` or `InvalidParameter`. Services choose theirs, so it has
 * at most two digits in a row: no number of a card.
 */
const code = "[A-Za-z](?![\\w.]*\\d\\d\\d)[\\w.]{0,59}";
const codeForm = new RegExp(`^${code}$`);
const numberForm = "[1-9]\\d\\d";
const statusForm = new RegExp(`^${numberForm}$`);

const knownForm = new RegExp(
  `^(?:${Object.values(reasons).join("|")}|${responded} (?:${numberForm}(?: \\(${code}\\))?|${code}|an error)|(?:${noResponse}|${notWritten})(?: \\(${code}\\))?)$`,
);

/** True for a reason of this release. One in the database can have been written by an earlier release. */
export const isKnownReason = (text: string): boolean => knownForm.test(text);

/** The other end has responded with a status or reply code, a code, or both. */
export function respondedWith(status: unknown, ownCode?: unknown): string {
  const [known, named] = [readStatus(status), readCode(ownCode)];
  if (known === undefined) return `${responded} ${named ?? "an error"}`;
  return `${responded} ${known}${named === undefined ? "" : ` (${named})`}`;
}

/** There was no response, or it could not be read. */
export const notResponded = (error: unknown): string => withCode(noResponse, error);

export const fileNotWritten = (error: unknown): string => withCode(notWritten, error);

const withCode = (sentence: string, error: unknown): string => {
  const found = codeOf(error);
  return found === undefined ? sentence : `${sentence} (${found})`;
};

/** The code of an error, or its name. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return readCode((error as { code?: unknown }).code) ?? readCode(error.name);
}

/** The name `Error` says nothing. */
const readCode = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "Error" && codeForm.test(value) ? value : undefined;

const readStatus = (value: unknown): string | undefined =>
  statusForm.test(String(value)) ? String(value) : undefined;
