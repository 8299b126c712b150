import { letOthersRun } from "../../../waiting/turns.ts";
import { isLive } from "../stored-entry.ts";
import { shareOf } from "./change-log.ts";
import { afterName, readMember } from "./keys.ts";
import type { Servers } from "./servers.ts";

/** Maximum number of members of a sorted set that are read at once, and the number that is read in a turn of its own. */
const membersPerRead = 500;
const manyMembers = 50;

/** A sorted set without scores. */
interface Source {
  part: number;
  key: string;
}

/** A member that has not expired: a name, and when it expires. */
interface Member {
  name: string;
  /** The name in the encoding that Redis sorts by. */
  bytes: Buffer;
  expiresAt?: number;
}

/**
 * The members of several sorted sets that have not expired, merged by name: from the name `from` on, or after `after`.
 * Reads about `limit` of them, and more on demand.
 */
export async function* mergedMembers(
  servers: Servers,
  sources: Source[],
  { from, after, limit }: { from?: string | undefined; after?: string | undefined; limit: number },
): AsyncGenerator<Member & { part: number }, void, void> {
  const start = after !== undefined ? `(${afterName(after)}` : from !== undefined ? `[${from}` : "-";
  const count = sources.length > 1 ? shareOf(limit) : Math.min(limit, membersPerRead);
  const readers = sources.map((source) => memberReader(servers, source, start, count));
  for (;;) {
    await Promise.all(readers.map((reader) => reader.fill()));
    const waiting = readers.filter(({ live }) => live.length > 0);
    if (waiting.length === 0) return;
    // The first of all is next, as long as the first of each part is known.
    while (waiting.every(({ live }) => live.length > 0)) {
      await letOthersRun();
      const { live, part } = waiting.reduce((one, other) => (isBefore(other.live, one.live) ? other : one));
      yield { ...(live.shift() as Member), part };
    }
  }
}

/** Reads the members of one sorted set that have not expired, in pieces that get larger. */
function memberReader(servers: Servers, { part, key }: Source, start: string, count: number) {
  const live: Member[] = [];
  let from: string | undefined = start;
  let size = count;
  return {
    part,
    live,
    /** Reads on if no member is left, up to a live one or the end. */
    async fill(): Promise<void> {
      while (live.length === 0 && from !== undefined) {
        const limits = ["LIMIT", "0", String(size)];
        const members: string[] = await servers.send(part, ["ZRANGEBYLEX", key, from, "+", ...limits]);
        if (members.length > manyMembers) await letOthersRun();
        for (const member of members.map(readMember).filter(isLive))
          live.push({ ...member, bytes: Buffer.from(member.name) });
        const last = members.length < size ? undefined : members.at(-1);
        from = last && `(${afterName(readMember(last).name)}`;
        size = Math.min(4 * size, membersPerRead);
      }
    },
  };
}

/** The order of Redis is by bytes, that of JavaScript by UTF-16 code units. */
const isBefore = ([one]: Member[], [other]: Member[]) =>
  Buffer.compare((one as Member).bytes, (other as Member).bytes) < 0;
