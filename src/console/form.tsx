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

export interface FieldProps extends Omit<LooseInputHTMLAttributes, "onChange"> {
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
