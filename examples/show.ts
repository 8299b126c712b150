import type { expected } from "./expected";

/** Prints what a step got. It compiles only if the type of the value has everything that is expected. */
export function show<Step extends keyof typeof expected, Value>(
  step: Step,
  value: Value & (Fits<(typeof expected)[Step], Value> extends true ? unknown : never),
): void {
  process.stdout.write(`${step} ${JSON.stringify(value)}\n`);
}

/** True if one of the alternatives of a type has this part. */
type Fits<Part, Type> = true extends FitsOne<Part, Type> ? true : false;
type FitsOne<Part, Type> = Type extends unknown
  ? Part extends readonly unknown[]
    ? Type extends readonly (infer Item)[]
      ? All<{ [Index in keyof Part]: Fits<Part[Index], Item> }[number]>
      : false
    : Part extends object
      ? All<{ [Key in keyof Part]: Key extends keyof Type ? Fits<Part[Key], Type[Key]> : false }[keyof Part]>
      : Part extends Type
        ? true
        : false
  : never;
type All<Results> = false extends Results ? false : true;
