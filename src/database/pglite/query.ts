import { type PGlite, parse, protocol, type Results } from "@electric-sql/pglite";
import type { Plan } from "../database.ts";

export interface Statement {
  text: string;
  values: unknown[];
  plan: Plan;
}

interface Prepared {
  name: string;
  parameterTypes: number[];
  /** The description of the rows; none if the statement returns no rows. */
  description: Messages;
}

type Messages = Awaited<ReturnType<PGlite["execProtocolStream"]>>;

/** More texts than the ledger has. */
const preparedMax = 200;
/** The columns of a table have changed since the statement was prepared. */
const isPlanError = (error: unknown) => (error as { code?: string }).code === "0A000";

const { bind, describe, execute, parse: parseText, sync } = protocol.serialize;

/**
 * Returns a function that runs statements. One that is not `custom` is parsed once, and takes one call of the engine after that
 * instead of six, so it needs half the time.
 */
export function querying(pglite: PGlite) {
  const statements = new Map<string, Prepared>();
  let names = 0;
  const send = (...messages: Uint8Array[]) => pglite.execProtocolStream(Buffer.concat(messages));

  async function prepare(text: string): Promise<Prepared> {
    const known = statements.get(text);
    if (known) return known;
    if (statements.size === preparedMax) {
      statements.clear();
      await pglite.exec("deallocate all");
    }
    const name = `s${names++}`;
    const described = await send(parseText({ name, text }), describe({ type: "S", name }), sync());
    const prepared = {
      name,
      parameterTypes: parse.parseDescribeStatementResults(described),
      description: described.filter((message) => message.name === "rowDescription"),
    };
    statements.set(text, prepared);
    return prepared;
  }

  async function queryPrepared({ text, values }: Statement): Promise<Results<unknown[]>> {
    const { name, parameterTypes, description } = await prepare(text);
    const serialized = values.map((value, index) => serialize(value, parameterTypes[index] ?? 0));
    const received = await send(bind({ statement: name, values: serialized }), execute({}), sync());
    const options = { rowMode: "array" } as const;
    const [result] = parse.parseResults([...description, ...received], pglite.parsers, options);
    return result as Results<unknown[]>;
  }

  function serialize(value: unknown, type: number): string | Uint8Array | null {
    if (value === null || value === undefined) return null;
    return pglite.serializers[type]?.(value) ?? String(value);
  }

  const queryCustom = ({ text, values }: Statement) =>
    pglite.query<unknown[]>(text, values, { rowMode: "array" });

  return async (statement: Statement): Promise<Results<unknown[]>> => {
    if (statement.plan === "custom") return queryCustom(statement);
    const isAlone = !pglite.isInTransaction();
    try {
      return await queryPrepared(statement);
    } catch (error) {
      if (isAlone && isPlanError(error)) return queryCustom(statement);
      throw error;
    }
  };
}
