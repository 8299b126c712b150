import { createHash } from "node:crypto";
import { mkdtempDisposable, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { Sql } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/databases.ts";
import { applyMigrations, type Migrations } from "../../src/database/migrate.ts";
import { featureMigrations } from "../../src/features/store/postgres/schema.ts";
import { ledgerMigrations } from "../../src/ledger/tables/migrate.ts";
import { root } from "../../testing/project.ts";

const subjects: Record<string, Migrations> = {
  "src/ledger/tables/schema.sql": ledgerMigrations,
  "src/features/store/postgres/schema.sql": featureMigrations,
};
const lineMax = 120;

/** The schemas that all migrations create in an empty database, as SQL to be read: their texts by path. */
export async function describeSchemas(): Promise<Map<string, string>> {
  const described: [string, string][] = [];
  for (const [file, migrations] of Object.entries(subjects)) {
    const text = await readFile(join(root, file), "utf8").catch(() => "");
    // The engine takes seconds to start.
    described.push([file, (await isCurrent(text, migrations)) ? text : await describeNew(migrations)]);
  }
  return new Map(described);
}

async function describeNew(migrations: Migrations): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "schema-"));
  await using database = await openDatabase(`pglite:${encodeURI(folder.path)}`);
  await applyMigrations(database, migrations);
  const text = await describeSchema(database, migrations.schema ?? "public");
  return `${await headerOf(text, migrations)}${text}`;
}

/** True if neither the text nor what it was generated from has changed since. */
async function isCurrent(text: string, migrations: Migrations): Promise<boolean> {
  const begin = text.indexOf("\n\n") + 1;
  return text.slice(0, begin) === (await headerOf(text.slice(begin), migrations));
}

/** The first lines of a file, with the hash of all on which it depends and of the text after it. */
async function headerOf(text: string, { folder }: Migrations): Promise<string> {
  const hash = createHash("sha256").update(manifest.dependencies["@electric-sql/pglite"]).update(text);
  for (const name of (await readdir(folder)).sort()) hash.update(await readFile(new URL(name, folder)));
  hash.update(await readFile(import.meta.filename));
  return `-- Generated from migrations/ by npm run codegen, to be read. Do not edit.
-- Hash of the migrations and of this text: ${hash.digest("hex")}
`;
}

/** A part of a schema: its statement, without the semicolon, and its comment. */
interface Part {
  statement: string;
  comment: string | null;
}

/** The extensions, the sequences, each table with its indexes and triggers, the views, and the functions, each kind by name. */
async function describeSchema(sql: Sql, schema: string): Promise<string> {
  await rejectOthers(sql, schema);
  const tables = await sql.query<Table>(tablesOf, [schema]);
  const groups: Part[][] = [];
  for (const query of [extensionsOf, sequencesOf]) {
    for (const part of await sql.query<Part>(query, [schema])) groups.push([part]);
  }
  for (const table of tables) {
    const indexes = await sql.query<Part>(indexesOf, [table.id]);
    const triggers = await sql.query<Part>(triggersOf, [table.id]);
    groups.push([await describeTable(sql, table), ...indexes, ...triggers]);
  }
  for (const query of [viewsOf, functionsOf]) {
    for (const part of await sql.query<Part>(query, [schema])) groups.push([part]);
  }
  rejectWithoutComment(groups.flat());
  const texts = groups.map((parts) => parts.map(textOf).join(""));
  // A function is always written with its schema, the other parts are not.
  return `\n${texts.join("\n")}`.replaceAll(/\bpublic\./g, "");
}

/** Indexes explain themselves. */
function rejectWithoutComment(parts: Part[]): void {
  const named = /^CREATE (?:OR REPLACE )?((?:SEQUENCE|TABLE|TRIGGER|VIEW|FUNCTION) [\w.]+)/;
  const names = parts.flatMap(({ statement, comment }) =>
    comment === null ? (named.exec(statement)?.[1] ?? []) : [],
  );
  if (names.length > 0) throw new Error(`no migration has a comment on ${names.join(", ")}`);
}

const textOf = ({ statement, comment }: Part) =>
  `${commentLines(comment)}${statement.trim().replace(/;$/, "")};\n`;

/** A comment as lines of SQL. */
function commentLines(comment: string | null, indent = ""): string {
  const lines: string[] = [];
  for (const word of comment?.split(" ") ?? []) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= lineMax) lines[lines.length - 1] = longer;
    else lines.push(`${indent}-- ${word}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** A schema that had other parts than those which are written would be described incompletely. */
async function rejectOthers(sql: Sql, schema: string): Promise<void> {
  const others = await sql.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where relnamespace = $1::regnamespace and relkind not in ('r', 'p', 'v', 'i', 'I', 'c', 'S')
       and not exists (select from pg_depend where objid = c.oid and deptype = 'i')
     union all
     select t.oid::regtype::text from pg_type t
     where typnamespace = $1::regnamespace and (typtype in ('e', 'd', 'r') or exists (
       select from pg_class c where c.oid = typrelid and relkind = 'c'
     ))`,
    [schema],
  );
  if (others.length > 0) {
    const names = others.map(({ name }) => name).join(", ");
    throw new Error(`scripts/contract/database-schema.ts does not describe the kind of ${names}`);
  }
}

const extensionsOf = `
  select format('CREATE EXTENSION %I', extname) as statement, obj_description(oid, 'pg_extension') as comment
  from pg_extension where extnamespace = $1::regnamespace order by extname collate "C"`;

/** Without those of identity columns. All are bigint, from 1. */
const sequencesOf = `
  select format('CREATE SEQUENCE %s', c.oid::regclass) as statement, obj_description(c.oid, 'pg_class') as comment
  from pg_class c
  where relnamespace = $1::regnamespace and relkind = 'S'
    and not exists (select from pg_depend where objid = c.oid and deptype = 'i')
  order by relname collate "C"`;

interface Table {
  id: number;
  name: string;
  comment: string | null;
  options: string | null;
  identity: string | null;
  /** What follows the columns of a partitioned table. */
  partitioned: string | null;
  /** The statement of a partition, which has the columns and indexes of its table. */
  partition: string | null;
}

const tablesOf = `
  select oid::integer as id, oid::regclass::text as name, obj_description(oid, 'pg_class') as comment,
    array_to_string(reloptions, ', ') as options, case relreplident when 'f' then 'FULL' end as identity,
    ' PARTITION BY ' || pg_get_partkeydef(oid) as partitioned,
    (select format('CREATE TABLE %s PARTITION OF %s %s', oid::regclass, inhparent::regclass, pg_get_expr(relpartbound, oid))
     from pg_inherits where relispartition and inhrelid = oid) as partition
  from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p') order by relname collate "C"`;

/** A table with its columns and constraints. */
async function describeTable(sql: Sql, table: Table): Promise<Part> {
  const { id, name, comment, options, identity, partitioned, partition } = table;
  if (partition !== null) return { statement: partition, comment };
  const parts = [
    ...(await sql.query<Part>(columnsOf, [id])),
    ...(await sql.query<Part>(constraintsOf, [id])),
  ];
  const lines = parts.map(
    (part, index) =>
      `${commentLines(part.comment, "  ")}  ${part.statement}${index < parts.length - 1 ? "," : ""}\n`,
  );
  const suffix = `${partitioned ?? ""}${options === null ? "" : ` WITH (${options})`}`;
  const statement = `CREATE TABLE ${name} (\n${lines.join("")})${suffix}`;
  return {
    statement: identity ? `${statement};\nALTER TABLE ${name} REPLICA IDENTITY ${identity}` : statement,
    comment,
  };
}

const columnsOf = `
  select concat_ws(' ',
      quote_ident(attname), format_type(atttypid, atttypmod),
      case when attcollation <> typcollation then
        'COLLATE ' || (select quote_ident(collname) from pg_collation where pg_collation.oid = attcollation) end,
      case when attnotnull then 'NOT NULL' end,
      case attidentity when 'a' then 'GENERATED ALWAYS AS IDENTITY' when 'd' then 'GENERATED BY DEFAULT AS IDENTITY' end,
      case attgenerated when 's' then 'GENERATED ALWAYS AS (' || pg_get_expr(adbin, adrelid) || ') STORED'
        else 'DEFAULT ' || pg_get_expr(adbin, adrelid) end
    ) as statement, col_description(attrelid, attnum) as comment
  from pg_attribute
  join pg_type on pg_type.oid = atttypid
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`;

/** The primary key first. PostgreSQL 18 also has constraints of the kind not null, which are with the columns. */
const constraintsOf = `
  select format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid, true)) as statement,
    obj_description(oid, 'pg_constraint') as comment
  from pg_constraint where conrelid = $1 and contype in ('p', 'u', 'c', 'f', 'x')
  order by contype <> 'p', conname collate "C"`;

const indexesOf = `
  select pg_get_indexdef(indexrelid, 0, true) as statement, obj_description(indexrelid, 'pg_class') as comment
  from pg_index join pg_class on oid = indexrelid
  where indrelid = $1 and not relispartition and not exists (select from pg_constraint where conindid = indexrelid)
  order by relname collate "C"`;

const triggersOf = `
  select pg_get_triggerdef(oid, true) as statement, obj_description(oid, 'pg_trigger') as comment
  from pg_trigger where tgrelid = $1 and not tgisinternal order by tgname collate "C"`;

const viewsOf = `
  select format(E'CREATE VIEW %s AS\\n%s', oid::regclass, pg_get_viewdef(oid, true)) as statement,
    obj_description(oid, 'pg_class') as comment
  from pg_class where relnamespace = $1::regnamespace and relkind = 'v' order by relname collate "C"`;

/** Without the functions of an extension. */
const functionsOf = `
  select pg_get_functiondef(p.oid) as statement, obj_description(p.oid, 'pg_proc') as comment
  from pg_proc p
  where pronamespace = $1::regnamespace
    and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
  order by proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`;
