import { setTimeout as sleep } from "node:timers/promises";
import { disposing } from "../testing/disposing.ts";
import { type PatroniPair, startPatroniPair } from "../testing/servers/patroni.ts";
import { ensureRunning, type Fault, openFaultyConnection } from "./faults.ts";

/**
 * Starts a synchronous pair of PostgreSQL servers under Patroni, with a TCP proxy for each. `url` names both proxies.
 * `faults` are failovers and the faults of the connections.
 */
export async function openFaultyPair(component: string) {
  await using opening = new AsyncDisposableStack();
  const pair = opening.use(await startPatroniPair());
  const connections = [
    opening.use(await openFaultyConnection(component, pair.nodes[0])),
    opening.use(await openFaultyConnection(component, pair.nodes[1])),
  ];
  const faults = [
    ...failovers(component, pair),
    ...connections.flatMap(({ reset, partition }) => [reset, partition]),
  ];
  const url = `postgres://postgres@${connections.map(({ url }) => new URL(url).host).join()}/postgres`;
  return disposing(opening, { url, faults });
}

/** The faults of a synchronous pair. Each is over when there is a primary; the next one waits for a synchronous standby. */
function failovers(
  component: string,
  { nodes, whenSynchronous, whenReplaced, switchOver }: PatroniPair,
): Fault[] {
  const common = {
    component,
    async possible() {
      for (const node of nodes) {
        if (node.isRunning()) continue;
        await sleep(machineLostMs);
        await ensureRunning(node);
      }
      await whenSynchronous();
    },
  };
  const killed: Fault = {
    ...common,
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
      ...common,
      kind: "machine of the primary lost",
      async inject() {
        const primary = await whenSynchronous();
        await primary.kill();
        await whenReplaced(primary);
      },
    },
    {
      ...common,
      kind: "standby killed",
      async inject() {
        const primary = await whenSynchronous();
        for (const node of nodes) if (node !== primary) await node.killPostgres();
        await sleep(asynchronousAfterMs);
      },
    },
    { ...common, kind: "primary switched over", inject: switchOver },
  ];
}

/** A lost machine is back after this time. Nothing is excused by it once there is another primary. */
const machineLostMs = 8000;
/** Commits wait for a dead standby until the primary has noticed. */
const asynchronousAfterMs = 3000;
