import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { disposing } from "../testing/disposing.ts";
import {
  installedPatroni,
  type PatroniNode,
  type PatroniPair,
  patroni4,
  startPatroniPair,
} from "../testing/servers/patroni.ts";
import { runOn } from "../testing/servers/postgres.ts";
import type { TestServer } from "../testing/servers/server.ts";
import { ensureRunning, type Fault, openFaultyConnection } from "./faults.ts";

/** A pair of which one server accepts writes at a time, or sometimes both. */
export type PairKind = "patroni" | "two-primaries";

/**
 * Starts a synchronous pair of PostgreSQL servers under Patroni, with a TCP proxy for each. `url` names both proxies.
 * `faults` are failovers and the faults of the connections. `faultsOf` are faults of a process that uses the pair.
 */
export async function openFaultyPair(component: string, kind: PairKind) {
  await using opening = new AsyncDisposableStack();
  const hasTwoPrimaries = kind === "two-primaries";
  const pair = opening.use(await startPatroniPair(hasTwoPrimaries ? patroni4 : installedPatroni));
  const connections = [
    opening.use(await openFaultyConnection(component, pair.nodes[0])),
    opening.use(await openFaultyConnection(component, pair.nodes[1])),
  ];
  const url = `postgres://postgres@${connections.map(({ url }) => new URL(url).host).join()}/postgres`;
  const ofConnections = connections.flatMap(({ reset, partition }) => [reset, partition]);
  if (!hasTwoPrimaries) {
    const faults = [...failovers(component, pair), ...ofConnections];
    return disposing(opening, { url, faults, faultsOf: (): Fault[] => [] });
  }
  const { faults, restarted } = twoPrimaries(component, pair);
  return disposing(opening, { url, faults: [...faults, ...ofConnections], faultsOf: restarted });
}

/** The next fault waits until both nodes run and one of them is a synchronous standby. */
const common = (component: string, { nodes, whenSynchronous }: PatroniPair) => ({
  component,
  async possible() {
    for (const node of nodes) {
      if (node.isRunning()) continue;
      await sleep(machineLostMs);
      await ensureRunning(node);
    }
    await whenSynchronous();
  },
});

/** The faults of a synchronous pair. Each is over when there is a primary. */
function failovers(component: string, pair: PatroniPair): Fault[] {
  const { nodes, whenSynchronous, whenReplaced, switchOver } = pair;
  const killed: Fault = {
    ...common(component, pair),
    kind: "primary killed",
    isFirst: true,
    async inject() {
      const primary = await whenSynchronous();
      await primary.killPostgres();
      await whenReplaced(primary);
    },
  };
  return [
    // More often than each of the others.
    ...[killed, killed, killed],
    {
      ...common(component, pair),
      kind: "machine of the primary lost",
      async inject() {
        const primary = await whenSynchronous();
        await primary.kill();
        await whenReplaced(primary);
      },
    },
    {
      ...common(component, pair),
      kind: "standby killed",
      async inject() {
        const primary = await whenSynchronous();
        for (const node of nodes) if (node !== primary) await node.killPostgres();
        await sleep(asynchronousAfterMs);
      },
    },
    { ...common(component, pair), kind: "primary switched over", inject: switchOver },
  ];
}

/**
 * The faults after which both servers accept writes: the Patroni of the primary is killed or hangs, and its PostgreSQL goes
 * on. `restarted` is a fault of a process that starts at that time.
 */
function twoPrimaries(component: string, pair: PatroniPair) {
  const { nodes, whenSynchronous } = pair;
  /** Between these times the standby was promoted. */
  const promotions: { after: number; before: number }[] = [];
  const events = new EventTarget();

  async function untilPromoted(primary: PatroniNode): Promise<void> {
    const standby = nodes.find((node) => node !== primary) as PatroniNode;
    for (let after = performance.now(); ; after = performance.now()) {
      const { rowCount } = await runOn(standby, "select where pg_is_in_recovery()");
      if (rowCount === 0) {
        promotions.push({ after, before: performance.now() });
        events.dispatchEvent(new Event(promoted));
        return;
      }
      await sleep(20);
    }
  }
  const faults: Fault[] = [
    {
      ...common(component, pair),
      kind: "Patroni of the primary killed",
      isFirst: true,
      mayReadStale: (from, to) =>
        promotions.some(({ after, before }) => from < before + staleMaxMs && to > after),
      async inject(_random, pause, recovered) {
        const primary = await whenSynchronous();
        primary.signalPatroni("SIGKILL");
        await untilPromoted(primary);
        recovered();
        await sleep(twoPrimariesMinMs);
        await pause(twoPrimariesMinMs);
        await primary.kill();
      },
    },
    {
      ...common(component, pair),
      kind: "Patroni of the primary suspended",
      async inject(random, _pause, recovered) {
        const primary = await whenSynchronous();
        primary.signalPatroni("SIGSTOP");
        const suspended = sleep(random.integer(suspendedMinMs, suspendedMaxMs));
        await untilPromoted(primary);
        recovered();
        await suspended;
        primary.signalPatroni("SIGCONT");
      },
    },
  ];
  const restarted = (processComponent: string, server: TestServer): Fault[] => [
    {
      component: processComponent,
      kind: "process started while two servers accept writes",
      isFirst: true,
      possible: (last) => once(events, promoted, { signal: last }).catch(() => {}),
      async inject() {
        await server.kill();
        await ensureRunning(server);
      },
    },
  ];
  return { faults, restarted };
}

const promoted = "promoted";
/** A lost machine is back after this time. Nothing is excused by it once there is another primary. */
const machineLostMs = 8000;
/** Commits wait for a dead standby until the primary has noticed. */
const asynchronousAfterMs = 3000;
/** For how long two servers accept writes, at least: a process starts in this time. */
const twoPrimariesMinMs = 8000;
/** Longer than the leader lock of Patroni lasts. */
const suspendedMinMs = 34_000;
const suspendedMaxMs = 72_000;
/** A read that begins this long after a promotion is not of the former primary. */
const staleMaxMs = 2000;
