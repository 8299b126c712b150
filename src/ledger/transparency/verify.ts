import type { Sql } from "../../database/database.ts";
import {
  countEntries,
  type EntryState,
  entryStates,
  type Head,
  keptCheckpoints,
  kinds,
  readHead,
  readTiles,
  type Tile,
  withoutEntries,
} from "../tables/transparency.ts";
import { type CheckpointFault, checkCheckpoint } from "./checkpoint.ts";
import { entryBytes, openEntries } from "./entry.ts";
import { tileWidth } from "./merkle.ts";
import type { Signer } from "./note.ts";
import { appendEntries, entriesLevel, partBytes, tileReader } from "./tiles.ts";

/** A whole number of tiles. */
const stepSize = 16 * tileWidth;
/** The number of sources without entries that are named. */
const namedMax = 100;

/**
 * Compares the log with the events, the redactions and the records of accesses, and with its checkpoints. Calls `found` with a sentence for each difference, and
 * `advance` with the number of entries that were compared. `former` has notes that others have kept.
 */
export async function verifyLog(
  sql: Sql,
  signer: Signer,
  former: string[],
  found: (difference: string) => void,
  advance: (count: number) => void,
): Promise<void> {
  const head = await readHead(sql);
  const size = Number(head.size);
  let open: Tile[] = [];
  const check = openEntryCheck(signer);
  for (let from = 0; from < size; from += stepSize) {
    const end = Math.min(from + stepSize, size);
    const [states, stored] = [await entryStates(sql, from, end), await storedEntries(sql, from, end)];
    for (const difference of check(states, from, stored)) found(difference);
    const tiles = appendEntries(from, open, stored);
    for (const difference of await differingTiles(sql, tiles)) found(difference);
    open = stillOpen([...open, ...tiles]);
    advance(end - from);
  }
  await checkEnd(sql, head, check.last(), found);
  for (const { note } of await keptCheckpoints(sql))
    await checkNote(sql, signer, size, note, "a checkpoint", found);
  for (const note of former) await checkNote(sql, signer, size, note, "the checkpoint that was kept", found);
}

/** The entries in the bundles of the log. One that is missing is empty. */
async function storedEntries(sql: Sql, from: number, end: number): Promise<Buffer[]> {
  const first = from / tileWidth;
  const places = Array.from({ length: Math.ceil((end - from) / tileWidth) }, (_, number) => ({
    level: entriesLevel,
    index: first + number,
  }));
  const bundles = new Map(
    (await readTiles(sql, places)).map(({ index, content }) => [index, Buffer.from(content)]),
  );
  return Array.from({ length: end - from }, (_, number) => {
    const start = (number % tileWidth) * entryBytes;
    const bundle = bundles.get(first + Math.floor(number / tileWidth)) ?? Buffer.of();
    return bundle.subarray(start, start + entryBytes);
  });
}

/** The place of an entry in the feed. */
type Place = Pick<EntryState, "sql_transaction" | "kind" | "source_id">;
/** The last entry, and the last record of an access up to it. */
type Last = Place & Pick<Head, "access_record_id">;

/** Compares entries with their sources, in their order. */
function openEntryCheck(signer: Signer) {
  const entryOf = openEntries(signer);
  let last: Last | undefined;

  function differencesOf(state: EntryState, stored: Buffer | undefined): string[] {
    const name = nameOf(state);
    const former = last;
    const isAccess = kinds[state.kind] === "access";
    last = { ...state, access_record_id: isAccess ? state.source_id : (former?.access_record_id ?? 0n) };
    if (state.content === null) return state.was_kept ? [] : [`${name} was removed`];
    const differences: string[] = [];
    if (former && !isAfter(state, former))
      differences.push(`${name} is not at its place in the order of the feed`);
    if (state.account !== state.account_in_feed) differences.push(`the account of ${name} was changed`);
    const personal = personalDifference(state);
    if (personal !== undefined) differences.push(`${name} ${personal}`);
    if (!stored?.equals(entryOf(Number(state.index), state.account, state.content)))
      differences.push(`${name} was changed, or its entry ${state.index} in the log`);
    return differences;
  }

  const check = (states: EntryState[], from: number, stored: Buffer[]): string[] => {
    const byIndex = Map.groupBy(states, ({ index }) => Number(index) - from);
    return stored.flatMap((bytes, number) => {
      const [state, ...others] = byIndex.get(number) ?? [];
      if (!state) return [`the entry ${from + number} has no source any more`];
      return [
        ...differencesOf(state, bytes),
        ...others.map((other) => `${nameOf(other)} has the entry ${other.index} of another one`),
      ];
    });
  };
  return Object.assign(check, { last: () => last });
}

/** What is wrong with the personal data of an entry; undefined if nothing is. */
function personalDifference(state: EntryState): string | undefined {
  const { has_personal_data, had_personal_data, is_salted, is_redacted, has_redaction } = state;
  if (had_personal_data !== has_personal_data)
    return `has ${has_personal_data ? "more" : "less"} personal data than before`;
  if (!had_personal_data) return undefined;
  if (!is_salted && !is_redacted) return "has personal data that nothing proves, since its salt was removed";
  if (!is_salted && !has_redaction) return "was redacted by hand";
  if (is_salted && has_redaction && !is_redacted)
    return "has personal data although its resource is redacted";
  if (is_salted && state.is_personal_data_same === false)
    return is_redacted ? "was redacted by hand" : "has other personal data than before";
  return undefined;
}

const nameOf = ({ kind, source_id, resource }: EntryState) =>
  `${kinds[kind] ?? "entry"} ${source_id}${resource === null ? "" : ` of ${resource}`}`;

function isAfter(one: Place, other: Place): boolean {
  const [a, b] = [one.sql_transaction ?? -1n, other.sql_transaction ?? -1n];
  if (a !== b) return a > b;
  return one.kind === other.kind ? one.source_id > other.source_id : one.kind > other.kind;
}

/** The tiles of these that the database has not, or not with these hashes at the beginning. */
async function differingTiles(sql: Sql, tiles: Tile[]): Promise<string[]> {
  const stored = await readTiles(sql, tiles);
  return tiles.flatMap(({ level, index, content }) => {
    const own = stored.find((tile) => tile.level === level && tile.index === index);
    const same = own && Buffer.from(own.content).subarray(0, content.length).equals(content);
    return same ? [] : [`the tile ${level === entriesLevel ? "entries" : level}/${index} was changed`];
  });
}

/** The last of the tiles of each level, if it is not full. */
const stillOpen = (tiles: Tile[]): Tile[] =>
  [...new Map(tiles.map((tile) => [tile.level, tile])).values()].filter(
    ({ level, content }) => content.length < tileWidth * partBytes(level),
  );

async function checkEnd(sql: Sql, head: Head, last: Last | undefined, found: (difference: string) => void) {
  const isAtLast =
    last === undefined ||
    ((last.sql_transaction === null || head.sql_transaction === last.sql_transaction) &&
      head.access_record_id === last.access_record_id &&
      head.kind === last.kind &&
      head.source_id === last.source_id);
  if (!isAtLast) found("the head of the log was changed: it is not at the last entry");
  const missing = await withoutEntries(sql, head, namedMax);
  for (const { kind, id } of missing)
    found(
      kind === null
        ? `event ${id} was added without the feed`
        : `${kinds[kind]} ${id} was added behind the head of the log, or its entry was removed`,
    );
  const count = await countEntries(sql);
  const now = (await readHead(sql)).size;
  if (count < head.size || count > now) found(`the log has ${count} entries and must have ${now}`);
}

const differenceOf: Record<CheckpointFault, (name: string, end: number, what: string) => string> = {
  unreadable: (_name, _end, what) => `${what} cannot be read`,
  unsigned: (name) => `${name} is not signed with the key of the log`,
  newer: (name, end) => `${name} is newer than the log, which has ${end}: entries were lost`,
  changed: (name) => `${name} is of another log: its entries were changed since`,
};

async function checkNote(
  sql: Sql,
  signer: Signer,
  end: number,
  text: string,
  what: string,
  found: (difference: string) => void,
): Promise<void> {
  const { fault, entries } = await checkCheckpoint(text, signer, end, tileReader(sql));
  const name = `${what} of ${entries} entries`;
  if (fault) found(differenceOf[fault](name, end, what));
}
