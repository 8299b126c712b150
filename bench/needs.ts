import type { Installable } from "../scripts/installed.ts";
import { isRedisInstalled } from "../src/features/store/redis-server.fixture.ts";
import { isPostgresInstalled } from "../src/ledger/database/postgres-server.fixture.ts";
import { isRabbitmqInstalled } from "../src/ledger/queue/rabbitmq-server.fixture.ts";
import { findProgram } from "../src/service/test-server.fixture.ts";

/** What must be installed to measure. */
export const needs: Installable[] = [
  { name: "PostgreSQL", aptPackage: "postgresql", isInstalled: isPostgresInstalled },
  { name: "RabbitMQ", aptPackage: "rabbitmq-server", isInstalled: isRabbitmqInstalled },
  { name: "Redis", aptPackage: "redis-server", isInstalled: isRedisInstalled },
  { name: "wrk", aptPackage: "wrk", isInstalled: () => findProgram("wrk") !== undefined },
  { name: "Webdis", aptPackage: "webdis", isInstalled: () => findProgram("webdis") !== undefined },
];
