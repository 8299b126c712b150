/** Answers, in a program, what the process that started it asks, with what comes of the work. */
export function answer<Question>(work: (question: Question) => Promise<unknown>): void {
  process.on("message", async (question) => process.send?.(await work(question as Question)));
}
