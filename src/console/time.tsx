import { formatInstant, formatUtc } from "./format.ts";

/** An instant in the time zone of the reader. UTC is shown on hover. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatUtc(at)}>
    {formatInstant(at)}
  </time>
);
