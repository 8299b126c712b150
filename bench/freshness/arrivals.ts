/** The destinations at which the arrival of events is measured. */
export const destinations = ["lookup", "report", "feed", "webhook"] as const;
export type Destination = (typeof destinations)[number];

export interface Times {
  p50: number;
  p99: number;
  /** Number of events that were measured. */
  count: number;
}

/** When events were accepted, and how long each took to a destination. Only the events between two marks count. */
export function openArrivals() {
  const acceptedAt: number[] = [];
  const arrived = new Map<Destination, Map<number, number>>(destinations.map((name) => [name, new Map()]));
  let [first, end] = [0, Number.POSITIVE_INFINITY];
  return {
    /** An event is sent now. Returns its number. */
    accepted: () => acceptedAt.push(performance.now()) - 1,
    arrived(destination: Destination, number: number): void {
      const times = arrived.get(destination);
      const accepted = acceptedAt[number];
      if (times && accepted !== undefined && !times.has(number))
        times.set(number, performance.now() - accepted);
    },
    /** The measurement begins with the next event. */
    begin() {
      first = acceptedAt.length;
    },
    /** The measurement ends before the next event. Returns the number of its events. */
    end() {
      end = acceptedAt.length;
      return end - first;
    },
    /** True if every event has arrived at the feed and at the webhook. */
    areComplete: () =>
      (["feed", "webhook"] as const).every((name) => arrived.get(name)?.size === acceptedAt.length),
    timesOf(destination: Destination): Times {
      const counted = [...(arrived.get(destination) ?? [])].filter(
        ([number]) => number >= first && number < end,
      );
      const sorted = counted.map(([, ms]) => ms).sort((one, other) => one - other);
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
      return { p50: at(0.5), p99: at(0.99), count: sorted.length };
    },
  };
}
export type Arrivals = ReturnType<typeof openArrivals>;
