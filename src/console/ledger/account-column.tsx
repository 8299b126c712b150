import { type Column, Text } from "../elements.tsx";

interface OfAccount {
  gateway_account_id?: string | null;
}

/** The columns of a list, with the account after the second one if the rows are of several accounts. */
export const withAccount = <Row extends OfAccount>(columns: Column<Row>[], rows: Row[]): Column<Row>[] =>
  new Set(rows.map(({ gateway_account_id }) => gateway_account_id)).size > 1
    ? columns.toSpliced(2, 0, {
        name: "Account",
        class: "wide",
        cell: ({ gateway_account_id }) => <Text>{gateway_account_id}</Text>,
      })
    : columns;
