import type { ComponentChildren } from "preact";

interface Props {
  facts: (readonly [name: string, value: ComponentChildren])[];
}

/** Names and values. Values that are not known are left out. */
export const Facts = ({ facts }: Props) => (
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
