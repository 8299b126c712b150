import { expect, test } from "vitest";
import { digestOfAttributes } from "./message-rules.ts";

// Digests from other implementations of the algorithm that Amazon documents.
test.each([
  [{ timestamp: { DataType: "Number", StringValue: "1493147359900" } }, "235c5c510d26fb653d073faed50ae77c"],
  [
    {
      b: { DataType: "Binary", BinaryValue: "AQL/" },
      a: { DataType: "String", StringValue: "x" },
    },
    "e1b614e31e99bc945d805bd12005dad7",
  ],
  [{}, undefined],
])("the digest of %j is that of Amazon SQS", (attributes, digest) => {
  expect(digestOfAttributes(attributes)).toBe(digest);
});
