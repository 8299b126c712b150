import { Details } from "./details.tsx";
import { formatJson } from "./format.ts";

/** A response as JSON, one click away. */
export const RawJson = ({ value }: { value: unknown }) => (
  <Details summary="JSON">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A box that scrolls must be reachable by keyboard. */}
    {() => <pre tabIndex={0}>{formatJson(value)}</pre>}
  </Details>
);
