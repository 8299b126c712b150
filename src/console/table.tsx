import type { ComponentChildren } from "preact";

interface Props {
  /** The name of the table for screen readers. */
  label: string;
  head: ComponentChildren;
  children: ComponentChildren;
}

/** A table in a box of its own, which scrolls if the table is wider than the page, by keyboard too. */
export const Table = ({ label, head, children }: Props) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: A box that scrolls must be reachable by keyboard.
  <section class="scroll" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>{head}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
);

interface FactsProps {
  facts: (readonly [name: string, value: ComponentChildren])[];
}

/** Names and values. Values that are not known are left out. */
export const Facts = ({ facts }: FactsProps) => (
  <dl class="facts">
    {facts.map(
      ([name, value]) =>
        ![undefined, null, false, ""].includes(value as string) && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);
