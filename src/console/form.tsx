import type { ComponentChildren, InputHTMLAttributes, LooseInputHTMLAttributes } from "preact";

interface FormProps {
  class: "search" | "token";
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

export interface FieldProps extends LooseInputHTMLAttributes {
  name: string;
  label: string;
}

/** An input with its label. */
export const Field = ({ label, ...input }: FieldProps) => (
  <label>
    {label}
    <input {...(input as InputHTMLAttributes)} />
  </label>
);
