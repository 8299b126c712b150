/**
 * A statement that adds or replaces whole rows, which it takes as one JSON array. Every column is written at every
 * save: one that was left out would keep a value its events no longer say.
 */
export function saveStatement<Row>(
  table: string,
  key: keyof Row & string,
  columns: Record<keyof Row & string, string>,
): string {
  const names = Object.keys(columns);
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return `
    insert into ${table} (${names.join(", ")})
    select ${names.join(", ")}
    from jsonb_to_recordset($1::jsonb) as new_row (${typed.join(", ")})
    on conflict (${key}) do update set ${names.map((name) => `${name} = excluded.${name}`).join(", ")}`;
}
