import type { Database } from "../../database/database.ts";
import { messageOf } from "../../process/describe-error.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { repeat } from "../../waiting/repeat.ts";
import { publishCheckpoint } from "./checkpoint.ts";
import { openEntries } from "./entry.ts";
import type { Signer } from "./note.ts";
import { seal, stepMax } from "./seal.ts";
import { LogDamaged } from "./tiles.ts";
import { openWitness, type WitnessSetting } from "./witness.ts";

/** While messages are in flight, sealing has 3 % of the time: this many times the duration of a step passes between two. */
const busyRatio = 32;
/** The delay while few events arrive, or while another process seals. */
const idleDelayMs = 1000;
/** The delay after a step that has left entries for the next one, while no message is in flight. */
const fullDelayMs = 20;
/** A new checkpoint is published after this time, if there are new entries. */
const checkpointEveryMs = 5000;

interface SealingParts {
  database: Database;
  signer: Signer;
  witnesses: WitnessSetting[];
  /** True while the receiver of this process has messages in flight. */
  isBusy: () => boolean;
  log: Logger;
}

/**
 * Adds what receivers have stored to the log, and publishes checkpoints, until it is disposed. Every process does, and the database
 * lets one at a time.
 */
export function startSealing(
  { database, signer, witnesses, isBusy, log }: SealingParts,
  { idleMs = idleDelayMs, everyMs = checkpointEveryMs } = {},
) {
  const outage = watchOutage(log, "error");
  const entryOf = openEntries(signer);
  const opened = witnesses.map((setting) => openWitness(setting, log));
  let published = Number.NEGATIVE_INFINITY;
  let problem: string | undefined;

  async function step(): Promise<number> {
    const startedAt = performance.now();
    try {
      const { isFull } = await seal(database, entryOf, stepMax);
      const durationMs = performance.now() - startedAt;
      if (startedAt - published >= everyMs) {
        await publishCheckpoint(database, signer, opened);
        published = startedAt;
      }
      problem = undefined;
      outage.succeeded();
      if (isBusy()) return Math.max(durationMs * busyRatio, idleMs);
      return isFull ? fullDelayMs : idleMs;
    } catch (err) {
      if (err instanceof LogDamaged) problem = messageOf(err);
      outage.failed("the transparency log could not be continued", { err });
      return idleMs;
    }
  }
  const repeated = repeat(step);
  return {
    /** What is wrong with the log; undefined if nothing is. */
    problem: () => problem,
    async [Symbol.asyncDispose]() {
      await repeated[Symbol.asyncDispose]();
      await Promise.all(opened.map((witness) => witness[Symbol.asyncDispose]()));
    },
  };
}
