import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hasSpaceFor } from "./database.ts";
import { openCommits } from "./group-commit.ts";
import { host, newListener, respond, stopListening } from "./listener.ts";
import { openWaits } from "./long-polling.ts";
import { openMessages } from "./messages.ts";
import type { ServedQueue } from "./operation.ts";
import { takeOver } from "./takeover.ts";

export interface ServerOptions {
  folder: string;
  /** 0 selects a free port. */
  port: number;
  /** The name of the one queue. */
  name: string;
  /** Hosts by which clients reach the server, besides those of the machine itself. Default: none. */
  allowedHosts?: string[];
}

const connectionsMax = 2000;
/** Longer than the longest wait for a message. */
const idleMaxMs = 30_000;
const headersMaxMs = 10_000;
const keepAliveMs = 75_000;
/** The pause between steps of cleaning, if there is more to clean, and if not. */
const cleaningPauseMs = 10;
const cleanedPauseMs = 1000;

/**
 * Serves the messages of a folder to clients of Amazon SQS, first those of an earlier release. Resolves when it listens.
 * Nothing of a message is logged.
 */
export async function startServer({ folder, port, name, allowedHosts = [] }: ServerOptions) {
  const messages = openMessages(folder);
  const warnings = takeOver(folder, name, messages);
  messages.extendLog();
  const waits = openWaits(() => messages.mayReceive());
  const cleaning = startCleaning(() => {
    const isMore = messages.transaction(() => messages.clean());
    return messages.shrink() || isMore;
  });
  const queue: ServedQueue = {
    ...{ name, messages, waits, commit: openCommits(messages), clean: cleaning.hasten },
    hasSpaceFor: (bytes) => hasSpaceFor(folder, bytes),
  };
  const listener = newListener(queue, allowedHosts);
  const server = createServer(
    { keepAliveTimeout: keepAliveMs, headersTimeout: headersMaxMs, requestTimeout: idleMaxMs },
    (request, response) => void respond(listener, request, response),
  );
  server.timeout = idleMaxMs;
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, "listening");
  return {
    address: `http://${host}:${(server.address() as AddressInfo).port}`,
    warnings,
    /** Ends waits, completes requests and closes the file. */
    async close(): Promise<void> {
      stopListening(listener);
      cleaning.stop();
      server.close();
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), closeMaxMs);
      await once(server, "close");
      clearTimeout(late);
      messages[Symbol.dispose]();
    },
  };
}

const closeMaxMs = 2000;

/** Repeats a step of work that returns true if there is more. */
function startCleaning(step: () => boolean) {
  let timer: NodeJS.Timeout;
  function work(): void {
    let isMore = false;
    try {
      isMore = step();
    } catch {
      // Another process is writing, or the disk is full: a later step can succeed.
    }
    schedule(isMore ? cleaningPauseMs : cleanedPauseMs);
  }
  function schedule(pauseMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(work, pauseMs);
  }
  schedule(cleanedPauseMs);
  return { hasten: () => schedule(cleaningPauseMs), stop: () => clearTimeout(timer) };
}
