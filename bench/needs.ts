import { postgresql, rabbitmq, redis } from "../scripts/servers/debian.ts";
import type { Installable } from "../scripts/servers/install.ts";
import { findProgram } from "../testing/servers/server.ts";

/** The programs that the benchmark needs. */
export const needs: Installable[] = [
  postgresql,
  rabbitmq,
  redis,
  { name: "wrk", aptPackages: ["wrk"], isInstalled: () => findProgram("wrk") !== undefined },
];
