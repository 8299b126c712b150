import { monitorEventLoopDelay } from "node:perf_hooks";
import { handleCalls } from "../bench/handle-calls.ts";

// Loaded into a service before its program (node --import). The service itself does not know it.
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();

/** The longest time for which the event loop was held since the previous call, in milliseconds. */
handleCalls(async (): Promise<number> => {
  const stallMs = delays.max / 1e6;
  delays.reset();
  return stallMs;
});
// The channel must not keep the process running.
process.channel?.unref();
