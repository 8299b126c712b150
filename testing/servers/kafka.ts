import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { allSettled } from "../all-settled.ts";
import { disposing } from "../disposing.ts";
import { freePort } from "../free-port.ts";
import { copyByMaven, type Installable, installFolder, runToEnd } from "./install.ts";
import { findProgram, type Instance, minimalEnvironment, startServer } from "./server.ts";

const kafkaVersion = "4.3.1";
/** The folder with the jars of the broker. Debian has no package of it. */
export const kafkaFolder = `/opt/kafka-${kafkaVersion}`;

const java = () => findProgram("java");

export const isKafkaInstalled = () => java() !== undefined && existsSync(kafkaFolder);

/**
 * The broker of Kafka from the jars in Maven Central: Debian has no package, and the download of Apache is twice as large.
 */
export const kafka: Installable = {
  name: "Kafka",
  aptPackages: ["default-jre-headless", "maven"],
  isInstalled: isKafkaInstalled,
  install: (stop) =>
    installFolder(kafkaFolder, stop, async (folder) => {
      const pom = join(folder, "pom.xml");
      await writeFile(pom, kafkaPom);
      const options = ["--file", pom, "-DincludeScope=runtime"];
      await runToEnd(copyByMaven("copy-dependencies", folder, ...options), stop);
    }),
};

const dependency = (group: string, artifact: string, version: string) =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;

/** The broker, and what writes its log. */
const kafkaPom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>kafka</artifactId><version>1</version>
<dependencies>
${dependency("org.apache.kafka", "kafka_2.13", kafkaVersion)}
${dependency("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")}
</dependencies>
</project>
`;

export type TestKafka = Awaited<ReturnType<typeof startKafka>>;

/** A small heap, since three brokers can run on one machine. */
const jvm = ["-Xms64m", "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const program = (...args: string[]): [string, ...string[]] => [
  java() ?? "java",
  ...[...jvm, "-cp", `${kafkaFolder}/*`, ...args],
];

/** A user for listeners with SASL, by SCRAM-SHA-512. */
export const kafkaUser = { username: "ledger", password: "pass:word/1" };

interface Options {
  count?: number;
  /** Further listeners, for example `SECURE://127.0.0.1:9093`. */
  listeners?: string[];
  /** Further lines of the configuration. */
  settings?: string[];
}

/**
 * Starts brokers in KRaft mode, each also a controller. Every topic has a replica on each of them; of three, one can be
 * lost. Default: one broker.
 */
export async function startKafka({ count = 1, listeners = [], settings = [] }: Options = {}) {
  await using opening = new AsyncDisposableStack();
  const controllers = await Promise.all(Array.from({ length: count }, freePort));
  const cluster = randomBytes(16).toString("base64url");
  const voters = controllers.map((port, index) => `${index + 1}@127.0.0.1:${port}`);
  const file = ({ folder }: Instance) => join(folder, "server.properties");
  const starts = controllers.map(async (controller, index) =>
    opening.use(
      await startServer({
        name: "kafka",
        url: ({ port }) => `kafka://127.0.0.1:${port}`,
        async prepare(instance) {
          const { folder, port } = instance;
          const lines = [
            "process.roles=broker,controller",
            `node.id=${index + 1}`,
            `controller.quorum.voters=${voters.join()}`,
            "controller.listener.names=CONTROLLER",
            `listeners=${[`PLAINTEXT://127.0.0.1:${port}`, `CONTROLLER://127.0.0.1:${controller}`, ...listeners]}`,
            `log.dirs=${join(folder, "data")}`,
            "auto.create.topics.enable=false",
            "num.partitions=3",
            `default.replication.factor=${count}`,
            `min.insync.replicas=${count > 2 ? 2 : 1}`,
            `offsets.topic.replication.factor=${count}`,
            "offsets.topic.num.partitions=3",
            `transaction.state.log.replication.factor=${count}`,
            "transaction.state.log.min.isr=1",
            // The default waits 3 seconds for further members of a new group.
            "group.initial.rebalance.delay.ms=0",
            ...settings,
          ];
          await writeFile(file(instance), `${lines.join("\n")}\n`);
          const user = `SCRAM-SHA-512=[name=${kafkaUser.username},password=${kafkaUser.password}]`;
          // The id can begin with a hyphen, like an option.
          const options = [`--cluster-id=${cluster}`, "--config", file(instance), "--add-scram", user];
          const [command, ...args] = program("kafka.tools.StorageTool", "format", ...options);
          await promisify(execFile)(command, args, { cwd: folder, env: minimalEnvironment(folder) });
        },
        command: (instance) => program("kafka.Kafka", file(instance)),
        stopSignal: "SIGTERM",
        probeRequest: apiVersionsRequest,
        probeResponse: apiVersionsResponse,
      }),
    ),
  );
  const brokers = await allSettled(starts);
  /** The URL of all brokers, without a topic. */
  const url = `kafka://${brokers.map(({ url }) => new URL(url).host).join()}`;
  return disposing(opening, { url, brokers });
}

/** ApiVersions, version 0: its length, key, version, an id and no client id. */
const apiVersionsRequest = "\0\0\0\x0a\0\x12\0\0test\xff\xff";
/** The same id and no error. */
const apiVersionsResponse = "test\0\0";
