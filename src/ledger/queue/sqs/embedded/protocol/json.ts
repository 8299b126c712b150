import { isObject, parseJson } from "../../../../../values/json.ts";
import type { Protocol, Reply } from "./protocol.ts";
import { missing, SqsError } from "./sqs-error.ts";

/** The protocol of present SDKs: the operation is in a header, input and output are JSON. */
export const jsonProtocol: Protocol = {
  read({ headers }, body) {
    const [, operation] = /^AmazonSQS\.(\w+)$/.exec(String(headers["x-amz-target"] ?? "")) ?? [];
    if (operation === undefined) throw missing("Action");
    const input = body === "" ? {} : parseJson(body);
    if (!isObject(input)) throw new SqsError("SerializationException", "The request is not a JSON object.");
    return { operation, input };
  },
  result: (requestId, _operation, output) => reply(200, requestId, output),
  error: (requestId, { code, message, status, queryCode, fault }) =>
    reply(
      status,
      requestId,
      { __type: `com.amazonaws.sqs#${code}`, message },
      { "x-amzn-query-error": `${queryCode};${fault}` },
    ),
};

const reply = (status: number, requestId: string, body: object, headers = {}): Reply => ({
  status,
  headers: { "content-type": "application/x-amz-json-1.0", "x-amzn-requestid": requestId, ...headers },
  body: JSON.stringify(body),
});
