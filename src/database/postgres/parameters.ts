import { type ValuesOf, wholeNumber } from "../../engines/parameters.ts";

const sslmodes = ["disable", "require", "verify-ca", "verify-full"] as const;
const channelBindings = ["disable", "prefer", "require"] as const;

/** The parameters of the URL of a PostgreSQL server. Except `pool` they have the names and the meanings of libpq. */
export const postgresParameters = {
  /** Connections for `repeated` and `custom` statements of requests. */
  pool: wholeNumber(10, { unit: "of connections " }),
  connect_timeout: wholeNumber(5, { unit: "of seconds " }),
  sslmode: {
    must: `one of ${sslmodes.join(", ")}; allow and prefer would go on without encryption`,
    read: (text: string) => sslmodes.find((mode) => mode === text),
    default: "disable" as (typeof sslmodes)[number],
  },
  sslrootcert: { must: "the name of a file, or system", read: (text: string) => text || undefined },
  channel_binding: {
    must: `one of ${channelBindings.join(", ")}`,
    read: (text: string) => channelBindings.find((binding) => binding === text),
    default: "disable" as (typeof channelBindings)[number],
  },
  /** Replaces the host of the URL. */
  host: {
    must: "the path of the folder with the socket of the server, such as /cloudsql/PROJECT:REGION:INSTANCE",
    read: (text: string) => (text.startsWith("/") ? text : undefined),
  },
  application_name: {
    must: "a name of up to 63 bytes",
    read: (text: string) => (text !== "" && Buffer.byteLength(text) <= 63 ? text : undefined),
  },
};
export type PostgresParameters = ValuesOf<typeof postgresParameters>;
