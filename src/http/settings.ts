import { logFormats, logLevels } from "../process/log.ts";
import {
  baseUrl,
  filePath,
  flag,
  hosts,
  milliseconds,
  networks,
  oneOf,
  optional,
  origins,
  requires,
} from "../process/settings.ts";
import { authenticationSettings, issuerSettings } from "./access/authentication.ts";
import { signInSettings } from "./access/sign-in.ts";
import { keepAliveMs } from "./limits/connections.ts";

/** The settings of a process, whichever services it runs. */
export const commonSettings = {
  LOG_LEVEL: oneOf(logLevels, "info"),
  LOG_FORMAT: oneOf(logFormats, "auto"),
  PUBLIC_URL: optional(baseUrl),
  TRUSTED_PROXIES: networks,
  CORS_ORIGINS: origins,
  ALLOWED_HOSTS: hosts,
  MCP: flag(false),
  AUDIT_JOURNAL: filePath("./data/audit"),
  ACCESS_REASON_REQUIRED: requires(issuerSettings, flag(false)),
  KEEP_ALIVE_TIMEOUT_MS: milliseconds(keepAliveMs),
  ...authenticationSettings,
  ...signInSettings,
};
