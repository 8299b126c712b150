/** Runs `work` for each message from the parent process, and sends its result back (see `Program.call`). */
export function handleCalls<Argument>(work: (argument: Argument) => Promise<unknown>): void {
  process.on("message", async (argument) => process.send?.(await work(argument as Argument)));
}
