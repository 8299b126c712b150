import { useState } from "preact/hooks";
import { Details } from "../elements.tsx";
import type { Search } from "./client.ts";

/** How the file of a download is written. It is remembered in the browser. */
export interface CsvOptions {
  /** Empty for the columns that it has without a choice. */
  columns: string[];
  separator: NonNullable<Search["separator"]>;
  /** True for Excel, which reads a file without the mark in another encoding. */
  byteOrderMark: boolean;
}

/** The columns in the order of the file. The contract describes each of them. */
export const columnNames = [
  ...["Date Created", "Time Created", "Type", "State", "Reference", "Description", "Amount", "Total Amount"],
  ...["Corporate Card Surcharge", "Fee", "Fee (transaction)", "Fee (3DS)", "Fee (fraud protection)", "Net"],
  ...["Currency", "Payout", "Settled Date", "Account", "Live", "Email", "Cardholder Name", "Card Brand"],
  ...[
    "Card Type",
    "Card Number",
    "Card Expiry Date",
    "Wallet Type",
    "MOTO",
    "3-D Secure Required",
    "Finished",
  ],
  ...["Error Code", "Error Message", "Issued By", "Payment Provider", "Provider ID", "GOV.UK Payment ID"],
  ...["Transaction ID", "Other metadata"],
];

const separators = { comma: "Comma", semicolon: "Semicolon", tab: "Tab" };
const storageKey = "csv";

/** The choice of the reader. One that cannot be read is as if there were none. */
function readOptions(): CsvOptions {
  let stored: Partial<CsvOptions> = {};
  try {
    stored = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
  } catch {}
  const { columns, separator, byteOrderMark } = stored;
  return {
    columns: Array.isArray(columns) ? columnNames.filter((name) => columns.includes(name)) : [],
    separator: separator !== undefined && separator in separators ? separator : "comma",
    byteOrderMark: byteOrderMark === true,
  };
}

/** The remembered options, and how to change them. */
export function useCsvOptions(): [CsvOptions, (changed: Partial<CsvOptions>) => void] {
  const [options, setOptions] = useState(readOptions);
  const change = (changed: Partial<CsvOptions>) => {
    const next = { ...options, ...changed };
    setOptions(next);
    try {
      localStorage.setItem(storageKey, JSON.stringify(next));
    } catch {
      // A browser can forbid it. The choice then lasts as long as the page.
    }
  };
  return [options, change];
}

interface Props {
  options: CsvOptions;
  onChange: (changed: Partial<CsvOptions>) => void;
}

/** The choice of the columns, the separator and the mark. */
export const CsvOptionFields = ({ options: { columns, separator, byteOrderMark }, onChange }: Props) => (
  <Details summary="CSV options">
    {() => (
      <>
        <p class="pages">
          <label>
            Separator{" "}
            <select
              value={separator}
              onChange={({ currentTarget }) =>
                onChange({ separator: currentTarget.value as CsvOptions["separator"] })
              }
            >
              {Object.entries(separators).map(([name, title]) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={byteOrderMark}
              onChange={({ currentTarget }) => onChange({ byteOrderMark: currentTarget.checked })}
            />
            UTF-8 mark, for Excel
          </label>
        </p>
        <fieldset>
          <legend>Columns</legend>
          <label class="check">
            <input
              type="checkbox"
              checked={columns.length === columnNames.length}
              onChange={({ currentTarget }) =>
                onChange({ columns: currentTarget.checked ? columnNames : [] })
              }
            />
            <strong>All columns</strong>
          </label>
          {columnNames.map((name) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={columns.includes(name)}
                onChange={({ currentTarget: { checked } }) =>
                  onChange({
                    columns: columnNames.filter((one) => (one === name ? checked : columns.includes(one))),
                  })
                }
              />
              {name}
            </label>
          ))}
        </fieldset>
      </>
    )}
  </Details>
);
