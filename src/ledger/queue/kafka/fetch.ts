import { createAPI, fetchV13, type Reader, ResponseError } from "@platformatic/kafka";
import { type Batch, readBatches } from "./records.ts";

/** What a broker has sent of a partition. */
export interface FetchedPartition {
  topicId: string;
  index: number;
  batches: Batch[];
  abortedTransactions: fetchV13.FetchResponsePartitionAbortedTransaction[];
}

const { key, version } = fetchV13.api;

/**
 * The request Fetch. Its batches are not decompressed: the client's own request does that with all of them, at once and
 * without a limit, before anybody sees the response. Rejects if a partition has an error. Every Kafka from 3.1 on knows
 * this version of the request, which names topics by id.
 */
export const fetchBatches = createAPI<fetchV13.FetchRequest, FetchedPartition[]>(
  key,
  version,
  fetchV13.createRequest,
  readResponse,
);

function readResponse(_id: number, _key: number, _version: number, reader: Reader): FetchedPartition[] {
  // The throttle time, an error of the session, which is none, and its id.
  reader.skip(4 + 2 + 4);
  const errors: Record<string, [number, null]> = {};
  const topics = reader.readArray(() => {
    const topicId = reader.readUUID();
    return reader.readArray(() => {
      const { errorCode, ...partition } = readPartition(reader);
      if (errorCode !== 0) errors[`/${topicId}/${partition.index}`] = [errorCode, null];
      return { topicId, ...partition };
    });
  });
  if (Object.keys(errors).length > 0) throw new ResponseError(key, version, errors, topics);
  return topics.flat();
}

function readPartition(reader: Reader) {
  const index = reader.readInt32();
  const errorCode = reader.readInt16();
  // The high watermark, the last stable offset and the first offset.
  reader.skip(8 + 8 + 8);
  const abortedTransactions = reader.readArray(() => ({
    producerId: reader.readInt64(),
    firstOffset: reader.readInt64(),
  }));
  // The preferred replica.
  reader.skip(4);
  const batches = readBatches(reader.readBytes());
  return { index, errorCode, abortedTransactions, batches };
}
