import { isRedisInstalled } from "../src/features/store/redis-server.fixture.ts";
import { isPgbouncerInstalled } from "../src/ledger/database/pgbouncer-server.fixture.ts";
import { isPostgresInstalled } from "../src/ledger/database/postgres-server.fixture.ts";
import { isRabbitmqInstalled } from "../src/ledger/queue/rabbitmq-server.fixture.ts";
import type { Installable } from "./installed.ts";

/** The servers that the services can be run on, as Debian has them. */
export const postgresql: Installable = {
  name: "PostgreSQL",
  aptPackage: "postgresql",
  isInstalled: isPostgresInstalled,
};
export const rabbitmq: Installable = {
  name: "RabbitMQ",
  aptPackage: "rabbitmq-server",
  isInstalled: isRabbitmqInstalled,
};
export const redis: Installable = {
  name: "Redis",
  aptPackage: "redis-server",
  isInstalled: isRedisInstalled,
};
/** In front of PostgreSQL: tests start it where they need it. */
export const pgbouncer: Installable = {
  name: "PgBouncer",
  aptPackage: "pgbouncer",
  isInstalled: isPgbouncerInstalled,
};
