import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isKafkaInstalled, kafkaFolder, kafkaVersion } from "../../testing/servers/kafka.ts";
import { isPatroniInstalled } from "../../testing/servers/patroni.ts";
import { isPgbouncerInstalled } from "../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled } from "../../testing/servers/postgres.ts";
import { isRabbitmqInstalled, laterDebian, rabbitmq4 } from "../../testing/servers/rabbitmq.ts";
import { isRedisInstalled } from "../../testing/servers/redis.ts";
import { type Installable, runToEnd } from "./install.ts";

/** The servers that the services can use, from Debian packages. */
export const postgresql: Installable = {
  name: "PostgreSQL",
  aptPackages: ["postgresql"],
  isInstalled: isPostgresInstalled,
};
export const rabbitmq: Installable = {
  name: "RabbitMQ",
  aptPackages: ["rabbitmq-server"],
  isInstalled: isRabbitmqInstalled,
};
/**
 * RabbitMQ 4 from Debian 13, since Debian 12 has an older version. It runs with `chroot` in a folder of its own. The folder
 * gets its final name when it is complete. Leftovers of an earlier attempt are removed, but no file system mounted there.
 */
export const newRabbitmq: Installable = {
  name: "RabbitMQ 4",
  aptPackages: ["debootstrap", "debian-archive-keyring"],
  isInstalled: () => rabbitmq4() !== undefined,
  async install(stop) {
    const incomplete = `${laterDebian}.incomplete`;
    await runToEnd(["rm", "--recursive", "--force", "--one-file-system", laterDebian, incomplete], stop);
    const options = ["--variant=minbase", "--force-check-gpg", "--include=rabbitmq-server"];
    await runToEnd(["debootstrap", ...options, "trixie", incomplete], stop);
    await rename(incomplete, laterDebian);
  },
};
export const redis: Installable = {
  name: "Redis",
  aptPackages: ["redis-server"],
  isInstalled: isRedisInstalled,
};
/** A connection pooler for PostgreSQL. Only tests start it. */
export const pgbouncer: Installable = {
  name: "PgBouncer",
  aptPackages: ["pgbouncer"],
  isInstalled: isPgbouncerInstalled,
};
/** It makes one of two PostgreSQL servers the primary, as etcd records. Only tests and simulations start it. */
export const patroni: Installable = {
  name: "Patroni",
  aptPackages: ["postgresql", "patroni", "etcd-server", "python3-etcd"],
  isInstalled: isPatroniInstalled,
};

/**
 * The broker of Kafka from the jars in Maven Central: Debian has no package, and the download of Apache is twice as large.
 * The folder gets its final name when it is complete.
 */
export const kafka: Installable = {
  name: "Kafka",
  aptPackages: ["default-jre-headless", "maven"],
  isInstalled: isKafkaInstalled,
  async install(stop) {
    const incomplete = `${kafkaFolder}.incomplete`;
    await runToEnd(["rm", "--recursive", "--force", kafkaFolder, incomplete], stop);
    await mkdir(incomplete);
    const pom = join(incomplete, "pom.xml");
    await writeFile(pom, kafkaPom);
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";
    const options = ["--quiet", "--batch-mode", "--file", pom, "-DincludeScope=runtime"];
    await runToEnd(["mvn", ...options, goal, `-DoutputDirectory=${incomplete}`], stop);
    await rename(incomplete, kafkaFolder);
  },
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
