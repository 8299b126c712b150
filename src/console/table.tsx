import type { ComponentChildren } from "preact";
import { Empty } from "./notice.tsx";

export interface Column<Row> {
  name: string;
  /** True if only screen readers read the name. */
  isUnseen?: boolean;
  /** True if its cells name the rows. */
  isHeader?: boolean;
  /** Numbers are on the right; narrow windows do not show `wide` columns. */
  class?: "number" | "wide";
  cell: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  /** The name of the table for screen readers. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** The text in the place of a table without rows. Default: the table is shown. */
  empty?: string;
}

/** A table in a box of its own, which scrolls if the table is wider than the page, by keyboard too. */
export function Table<Row>({ label, columns, rows, keyOf, empty }: Props<Row>) {
  if (rows.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: A box that scrolls must be reachable by keyboard.
    <section class="scroll" aria-label={label} tabIndex={0}>
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
            <tr key={keyOf(row)}>
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
