export type OnDemand<Opened> = ReturnType<typeof onDemand<Opened>>;

/**
 * Something that is opened on demand, kept for later calls, and opened again after it was forgotten. `forget`, which `open`
 * gets, forgets only what this call has opened, and returns whether it was not forgotten before.
 */
export function onDemand<Opened>(open: (forget: () => boolean) => Promise<Opened>) {
  let current: Promise<Opened> | undefined;
  return {
    /** Calls at the same time open it once. It is forgotten if opening fails. */
    open(): Promise<Opened> {
      if (current) return current;
      const forget = () => {
        const isCurrent = current === opening;
        if (isCurrent) current = undefined;
        return isCurrent;
      };
      const opening = open(forget);
      opening.catch(forget);
      current = opening;
      return opening;
    },
    /** Resolves with what is open, or being opened. Resolves with undefined if there is nothing, or if opening fails. */
    opened: async () => current?.catch(() => undefined),
    forget(): void {
      current = undefined;
    },
  };
}
