import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { Button, Details } from "../elements.tsx";
import { Checks, Select } from "../form.tsx";
import type { Search } from "./client.ts";
import { columnNames } from "./csv-columns.ts";

/** How the file of a download is written. It is remembered in the browser. */
interface CsvOptions {
  /** Empty for the columns that it has without a choice. */
  columns: string[];
  separator: NonNullable<Search["separator"]>;
  /** True for Excel, which reads a file without the mark in another encoding. */
  byteOrderMark: boolean;
}

const separators = { comma: "Comma", semicolon: "Semicolon", tab: "Tab" };
const storageKey = "csv";

/** The choice of the reader. One that cannot be read is as if there were none. */
function readOptions(): CsvOptions {
  let stored: Partial<CsvOptions> = {};
  try {
    stored = { ...JSON.parse(localStorage.getItem(storageKey) ?? "{}") };
  } catch {}
  const { columns, separator, byteOrderMark } = stored;
  return {
    columns: Array.isArray(columns) ? columnNames.filter((name) => columns.includes(name)) : [],
    separator: separator !== undefined && Object.hasOwn(separators, separator) ? separator : "comma",
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
export function CsvOptionFields({ options, onChange }: Props) {
  const [chosenAtOnce, setChosenAtOnce] = useState(0);
  /** The form is made again, since it has its own state. */
  const choose = (columns: string[]) => {
    onChange({ columns });
    setChosenAtOnce(chosenAtOnce + 1);
  };
  const read = ({ currentTarget }: TargetedEvent<HTMLFormElement>) => {
    const fields = new FormData(currentTarget);
    onChange({
      columns: fields.getAll("column").map(String),
      separator: String(fields.get("separator")) as CsvOptions["separator"],
      byteOrderMark: fields.has("mark"),
    });
  };
  return (
    <Details summary="CSV options">
      {() => (
        <form key={chosenAtOnce} onChange={read}>
          <p class="selects">
            <Select label="Separator" name="separator" value={options.separator} options={separators} />
            <label class="check">
              <input type="checkbox" name="mark" defaultChecked={options.byteOrderMark} />
              UTF-8 mark, for Excel
            </label>
            <Button onClick={() => choose(columnNames)}>All columns</Button>
            <Button onClick={() => choose([])}>Usual columns</Button>
          </p>
          <Checks legend="Columns" name="column" chosen={options.columns} options={columnTexts} />
        </form>
      )}
    </Details>
  );
}

const columnTexts = Object.fromEntries(columnNames.map((name) => [name, name]));
