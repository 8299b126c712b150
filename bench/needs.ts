import { debianProgram, type Installable } from "../testing/servers/install.ts";
import { postgresql } from "../testing/servers/postgres.ts";
import { rabbitmq } from "../testing/servers/rabbitmq.ts";
import { redis } from "../testing/servers/redis.ts";

/** The programs that the benchmark needs. */
export const needs: Installable[] = [postgresql, rabbitmq, redis, debianProgram("wrk", "wrk", ["wrk"])];
