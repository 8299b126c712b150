/** Types of parameters and bodies, from the `operations` that openapi-typescript generates. */

/** The parameters of an operation in one place, by name. */
export type ParametersIn<Operation, Place extends "path" | "query" | "header"> = Operation extends {
  parameters: { [Key in Place]?: infer Values };
}
  ? [NonNullable<Values>] extends [never]
    ? Record<never, never>
    : NonNullable<Values>
  : Record<never, never>;

/** The JSON body of a request; undefined if the operation has none. */
export type RequestBody<Operation> = Operation extends { requestBody?: infer Body }
  ? Body extends { content: { "application/json": infer Value } }
    ? Value
    : undefined
  : undefined;
