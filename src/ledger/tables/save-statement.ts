/**
 * A statement that inserts rows from one JSON array, or replaces those that differ. It writes every column: a column that
 * was left out would keep an outdated value.
 */
export function saveStatement<Row>(
  table: string,
  key: keyof Row & string,
  columns: Record<keyof Row & string, string>,
): string {
  const names = Object.keys(columns);
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  const all = (row: string) => names.map((name) => `${row}.${name}`).join(", ");
  return `
    insert into ${table} (${names.join(", ")})
    select ${names.join(", ")}
    from jsonb_to_recordset($1::jsonb) as new_row (${typed.join(", ")})
    on conflict (${key}) do update set (${names.join(", ")}) = (${all("excluded")})
    where (${all(table)}) is distinct from (${all("excluded")})`;
}
