import {
  type Broker,
  type Consumer,
  createAPI,
  FetchIsolationLevels,
  fetchV13,
  type Reader,
  ResponseError,
} from "@platformatic/kafka";
import type { Partition } from "./partition.ts";
import { readBatches } from "./records.ts";

/** What a broker has sent of a partition. */
export type FetchedPartition = Omit<ReturnType<typeof readPartition>, "errorCode"> & { topicId: string };

/** A broker holds a request for this time while no message arrives. */
const fetchWaitMs = 500;
const fetchBytes = 2 ** 20;

/**
 * Fetches from a broker what follows in these partitions. Waits for up to 500 milliseconds for the first message. A response
 * has up to 1 MiB, or one batch that is larger. The client's own fetch drops committed messages between aborted ones, and
 * returns aborted ones.
 */
export async function fetchFrom(
  fetcher: Consumer,
  broker: Broker,
  partitions: Partition[],
): Promise<FetchedPartition[]> {
  // In turn: the first ones can fill the response each time.
  const inTurn = partitions.toSorted((one, other) => one.arrivedAt - other.arrivedAt);
  const topics = inTurn.map(({ topicId, index, position }) => {
    const epochs = { currentLeaderEpoch: -1, lastFetchedEpoch: -1 };
    const from = { partition: index, fetchOffset: position, partitionMaxBytes: fetchBytes };
    return { topicId, partitions: [{ ...from, ...epochs }] };
  });
  const connection = await fetcher.connections.get(broker);
  const [minBytes, isolation] = [1, FetchIsolationLevels.READ_COMMITTED];
  const limits = [fetchWaitMs, minBytes, fetchBytes, isolation] as const;
  return fetchBatches.async(connection, ...limits, ...noSession, topics, [], "");
}

/** The id and the epoch of a request that names all its partitions. */
const noSession = [0, -1] as const;

const { key, version } = fetchV13.api;

/**
 * The request Fetch. Its batches are not decompressed: the client's own request does that with all of them, at once and
 * without a limit, before anybody sees the response. Rejects if a partition has an error. Every Kafka from 3.1 on knows
 * this version of the request, which names topics by id.
 */
const fetchBatches = createAPI<fetchV13.FetchRequest, FetchedPartition[]>(
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
