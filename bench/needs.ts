import type { Installable } from "../scripts/installed.ts";
import { isRedisInstalled } from "../src/features/store/redis-server.fixture.ts";
import { isPostgresInstalled } from "../src/ledger/database/postgres-server.fixture.ts";
import { isRabbitmqInstalled } from "../src/ledger/queue/rabbitmq-server.fixture.ts";
import { findProgram } from "../src/service/test-server.fixture.ts";
import type { Row } from "./row.ts";

/** What must be installed for these rows to be measured. */
export function needsOf(rows: Row[]): Installable[] {
  const programs: Record<string, string> = Object.assign({}, ...rows.map(({ needs }) => needs));
  return [
    { name: "PostgreSQL", aptPackage: "postgresql", isInstalled: isPostgresInstalled },
    { name: "RabbitMQ", aptPackage: "rabbitmq-server", isInstalled: isRabbitmqInstalled },
    { name: "Redis", aptPackage: "redis-server", isInstalled: isRedisInstalled },
    ...Object.entries(programs).map(([aptPackage, program]) => ({
      name: program,
      aptPackage,
      isInstalled: () => findProgram(program) !== undefined,
    })),
  ];
}
