import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatInstant, formatJson, formatMinute, formatUtc } from "./format.ts";

/** A button that does something in the page. It sends no form. */
export const Button = (button: ButtonHTMLAttributes) => <button type="button" {...button} />;

/** An instant in the shown time zone, in a list without its seconds. UTC is shown on hover. */
export const Time = ({ at, isShort = false }: { at: string; isShort?: boolean }) => (
  <time dateTime={at} title={formatUtc(at)}>
    {isShort ? formatMinute(at) : formatInstant(at)}
  </time>
);

/** A text that others have written, in a direction of its own. A long one is cut off, and is whole on hover. */
export const Text = ({ children }: { children: string | null | undefined }) =>
  children ? (
    <bdi class="text" title={children}>
      {children}
    </bdi>
  ) : null;

/** An id with a button that copies it. */
export const Copied = ({ text }: { text: string }) => (
  <>
    <bdi>{text}</bdi> <CopyButton text={text} aria-label={`Copy ${text}`} />
  </>
);

interface CopyButtonProps extends ButtonHTMLAttributes {
  text: string;
  children?: string;
}

/** A button that copies a text, which is not shown. */
export function CopyButton({ text, children = "Copy", ...button }: CopyButtonProps) {
  const [copied, setCopied] = useState<string>();
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(text));
  return (
    <Button {...button} class="copy" onClick={copy}>
      {copied === text ? "Copied" : children}
    </Button>
  );
}

/** A text with its line breaks, in a box that scrolls. */
const Preformatted = ({ children }: { children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: A box that scrolls must be reachable by keyboard.
  <pre tabIndex={0}>{children}</pre>
);

/** A response as JSON, one click away. */
export const RawJson = ({ value }: { value: unknown }) => (
  <Details summary="JSON">{() => <Preformatted>{formatJson(value)}</Preformatted>}</Details>
);

interface DetailsProps {
  summary: ComponentChildren;
  isOpen?: boolean;
  children: () => ComponentChildren;
}

/** Something that can be opened. It is rendered when it is opened first, so that it costs nothing before. */
export function Details({ summary, isOpen = false, children }: DetailsProps) {
  const [wasOpen, setWasOpen] = useState(isOpen);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setWasOpen(true)}>
      <summary>{summary}</summary>
      {wasOpen && children()}
    </details>
  );
}

/** A name and a value, which can be unknown. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** True if a value is shown. */
export const isKnown = (value: ComponentChildren): boolean =>
  ![undefined, null, false, ""].includes(value as string);

/** Names and values. Values that are not known are left out. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl class="facts">
    {facts.map(
      ([name, value]) =>
        isKnown(value) && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

/** That there is nothing to show, and what could be done. */
export const Empty = ({ children }: { children: ComponentChildren }) => (
  <p class="notice empty">{children}</p>
);

export interface Column<Row> {
  name: string;
  /** True if only screen readers read the name. */
  isUnseen?: boolean;
  /** True if its cells name the rows. */
  isHeader?: boolean;
  /** Numbers are on the right. Narrow windows do not show `wide` columns. A `short` one has no line breaks in wide ones. */
  class?: "number" | "wide" | "number wide" | "short";
  cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  /** The name of the table for screen readers. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  /** The key of a row, so that the focus does not stay on a row that becomes another one. Default: its position. */
  keyOf?: (row: Row) => string;
  /** The text in the place of a table without rows. Default: the table is shown. */
  empty?: string;
  /** True if rows have links, by which the keyboard reaches what is beside the page. */
  hasLinks?: boolean;
}

/** A table in a box of its own, which scrolls if the table is wider than the page. */
export function Table<Row>({ label, columns, rows, keyOf, empty, hasLinks }: TableProps<Row>) {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  return (
    <section class="scroll" aria-label={label} tabIndex={hasLinks ? undefined : 0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isUnseen, class: kind }) => (
              <th scope="col" class={kind} key={name}>
                {isUnseen ? <span class="unseen">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf?.(row)}>
              {columns.map(({ name, isHeader, class: kind, cell }) =>
                isHeader ? (
                  <th scope="row" key={name}>
                    {cell(row)}
                  </th>
                ) : (
                  <td class={kind} key={name}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
