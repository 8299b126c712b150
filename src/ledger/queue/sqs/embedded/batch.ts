import type { Output } from "./operation.ts";
import { type Input, objects, requiredText } from "./protocol/input.ts";
import { SqsError } from "./protocol/sqs-error.ts";

const entriesMax = 10;

/**
 * Reads the entries of a batch, does the work for those that are valid, all together, and reports the result of each. The work
 * returns a result or an error for each entry.
 */
export async function eachEntry<Read>(
  input: Input,
  read: (entry: Input) => Read,
  work: (entries: Read[]) => Promise<(Output | SqsError)[]>,
): Promise<Output> {
  const entries = objects(input, "Entries");
  const ids = idsOf(entries);
  const reads = entries.map((entry) => resultOf(() => read(entry)));
  const valid = reads.filter((one) => !(one instanceof SqsError)) as Read[];
  const results = valid.length > 0 ? await work(valid) : [];
  const Successful: Output[] = [];
  const Failed: Output[] = [];
  for (const [index, id] of ids.entries()) {
    const failed = reads[index];
    const result = failed instanceof SqsError ? failed : results.shift();
    if (!(result instanceof SqsError)) Successful.push({ Id: id, ...result });
    else {
      const { code, message, fault } = result;
      Failed.push({ Id: id, SenderFault: fault === "Sender", Code: code, Message: message });
    }
  }
  return { Successful, Failed };
}

function idsOf(entries: Input[]): string[] {
  if (entries.length === 0) throw new SqsError("EmptyBatchRequest", "There should be at least one entry.");
  if (entries.length > entriesMax) {
    const reason = `Maximum number of entries per request are ${entriesMax}. You have sent ${entries.length}.`;
    throw new SqsError("TooManyEntriesInBatchRequest", reason);
  }
  const ids = entries.map((entry) => requiredText(entry, "Id"));
  if (ids.some((id) => !/^[\w-]{1,80}$/.test(id))) {
    const reason =
      "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.";
    throw new SqsError("InvalidBatchEntryId", reason);
  }
  if (new Set(ids).size < ids.length) {
    throw new SqsError("BatchEntryIdsNotDistinct", "Two or more batch entries have the same Id.");
  }
  return ids;
}

/** The result of the work, or its `SqsError`. */
export function resultOf<Result>(work: () => Result): Result | SqsError {
  try {
    return work();
  } catch (error) {
    if (error instanceof SqsError) return error;
    throw error;
  }
}
