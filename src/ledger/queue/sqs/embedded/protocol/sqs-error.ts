/** An error of Amazon SQS. Clients of both protocols know its code, and retry one with status 500 and above. */
export class SqsError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }

  get fault(): "Sender" | "Receiver" {
    return this.status < 500 ? "Sender" : "Receiver";
  }

  /** The code of the query protocol, which clients of the JSON protocol get in a header. */
  get queryCode(): string {
    const code = queryCodes[this.code] ?? this.code;
    return prefixed.has(this.code) ? `AWS.SimpleQueueService.${code}` : code;
  }
}

const queryCodes: Record<string, string> = {
  QueueDoesNotExist: "NonExistentQueue",
  QueueNameExists: "QueueAlreadyExists",
};

const prefixed = new Set([
  "QueueDoesNotExist",
  "UnsupportedOperation",
  "TooManyEntriesInBatchRequest",
  "EmptyBatchRequest",
  "BatchEntryIdsNotDistinct",
  "BatchRequestTooLong",
  "InvalidBatchEntryId",
  "MessageNotInflight",
  "PurgeQueueInProgress",
]);

export const invalidValue = (name: string, value: unknown, reason: string) =>
  new SqsError(
    "InvalidParameterValue",
    `Value ${String(value).slice(0, 100)} for parameter ${name} is invalid. Reason: ${reason}.`,
  );

export const unknownAttribute = (name: string) =>
  new SqsError("InvalidAttributeName", `Unknown Attribute ${name.slice(0, 100)}.`);

export const missing = (name: string) =>
  new SqsError("MissingParameter", `The request must contain the parameter ${name}.`);

/** The error that clients retry. */
export const unavailable = (reason: string) => new SqsError("ServiceUnavailable", reason, 503);
