import type { ComponentChildren, InputHTMLAttributes, LooseInputHTMLAttributes, TargetedEvent } from "preact";

interface FormProps {
  class: "search" | "token" | "find" | "filters";
  onSubmit: (fields: FormData) => void;
  children: ComponentChildren;
}

/** A form that the page handles itself. */
export function Form({ onSubmit, ...form }: FormProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget as HTMLFormElement));
  };
  return <form onSubmit={submit} {...form} />;
}

interface FieldProps extends Omit<LooseInputHTMLAttributes, "onChange"> {
  name: string;
  label: string;
  /** The id of a list of values to choose from. */
  list?: string;
  onChange?: (event: TargetedEvent<HTMLInputElement>) => void;
}

/** An input with its label. */
export const Field = ({ label, ...input }: FieldProps) => (
  <label>
    {label}
    <input {...(input as InputHTMLAttributes)} />
  </label>
);

/** The values of a choice, with their texts. */
export type Options<Value extends string> = { readonly [value in Value]?: string };

interface SelectProps<Value extends string> {
  label: string;
  name?: string;
  value: Value;
  options: Options<Value>;
  onChange?: (value: Value) => void;
}

/** One of several values, with its label. */
export const Select = <Value extends string>({
  label,
  name,
  value,
  options,
  onChange,
}: SelectProps<Value>) => (
  <label>
    {label}
    <select
      name={name}
      value={value}
      onChange={onChange && (({ currentTarget }) => onChange(currentTarget.value as Value))}
    >
      {Object.entries(options).map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text as string}
        </option>
      ))}
    </select>
  </label>
);

interface ChecksProps {
  legend: string;
  name: string;
  chosen: readonly string[];
  options: Options<string>;
}

/** Any of several values, each with a box, in a form. */
export const Checks = ({ legend, name, chosen, options }: ChecksProps) => (
  <fieldset>
    <legend>{legend}</legend>
    {Object.entries(options).map(([value, text]) => (
      <label key={value} class="check">
        <input type="checkbox" name={name} value={value} defaultChecked={chosen.includes(value)} />
        {text}
      </label>
    ))}
  </fieldset>
);
