import { isLive } from "../stored-entry.ts";
import { afterName, parts as allParts, keysOf, readMember } from "./keys.ts";
import { merged, shareOf } from "./merge.ts";
import type { Command, Servers } from "./servers.ts";

/** Maximum number of members of a sorted set that are read at once. */
const membersPerRead = 500;

/** A member of a sorted set without scores: a name, and when it expires. */
interface Member {
  name: string;
  /** A text that JavaScript sorts, by UTF-16 code units, as Redis sorts the name, by bytes. */
  sortKey: string;
  expiresAt?: number;
}

/** The members to read: from the name `from` on, or after `after`; about `limit` of them, and more on demand. */
export interface Wanted {
  from?: string | undefined;
  after?: string | undefined;
  limit: number;
  /** Default: all parts. */
  parts?: number[];
}

/** The kind of the key of a sorted set without scores, and the names in it. */
export type MembersKey = [kind: string, ...names: string[]];

/** The members of a sorted set of each part that have not expired, merged by name. Each comes with its `part`. */
export function mergedMembers(
  servers: Servers,
  key: MembersKey,
  { from, after, limit, parts = allParts }: Wanted,
) {
  const start = after !== undefined ? `(${afterName(after)}` : from !== undefined ? `[${from}` : "-";
  const size = parts.length > 1 ? shareOf(limit) : Math.min(limit, membersPerRead);
  const keys = keysOf(parts, ...key);
  const readers = parts.map((part, index) => memberReader(part, keys[index] as string, start, size));
  return merged(servers, readers, ({ sortKey: one }: Member, { sortKey: other }: Member) =>
    one < other ? -1 : Number(one > other),
  );
}

/** Code points above U+FFFF are surrogates in UTF-16, which come before U+E000. In UTF-8 they come after U+FFFF. */
const sortKeyOf = (name: string) =>
  name.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
  });

/** One object for each member: copies cost a short page a tenth of its time. */
function readSortable(text: string): Member {
  const member = readMember(text);
  return Object.assign(member, { sortKey: sortKeyOf(member.name) });
}

/** Reads the members of one sorted set that have not expired, in pieces that get larger. */
function memberReader(part: number, key: string, start: string, sizeAtFirst: number) {
  let from = start;
  let size = sizeAtFirst;
  const reader = {
    part,
    unread: [] as Member[],
    isComplete: false,
    commands: (): Command[] => [["ZRANGEBYLEX", key, from, "+", "LIMIT", "0", String(size)]],
    take([members]: [string[]]): void {
      reader.unread = members.map(readSortable).filter(isLive);
      reader.isComplete = members.length < size;
      if (!reader.isComplete) from = `(${afterName(readMember(members.at(-1) as string).name)}`;
      size = Math.min(4 * size, membersPerRead);
    },
  };
  return reader;
}
