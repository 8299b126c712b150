import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../testing/project.ts";

/**
 * A program that publishes an event, in which MESSAGE is the event as JSON. The service fills in `{{name}}`, a value of its
 * queue, when it serves the page.
 */
export interface Snippet {
  language: string;
  requires: string;
  program: string;
}

/** For a stand-in of Amazon SQS, which accepts any credentials. Clients require some. */
const standIn: Snippet[] = [
  {
    language: "Python",
    requires: "`pip install boto3`",
    program: `import boto3

queue_url = {{"url"}}
sqs = boto3.client(
    "sqs",
    endpoint_url={{"endpoint"}},
    region_name={{"region"}},
    aws_access_key_id="none",
    aws_secret_access_key="none",
)
event = r"""MESSAGE"""
sent = sqs.send_message(QueueUrl=queue_url, MessageBody=event)
print("sent", sent["MessageId"])`,
  },
  {
    language: "Java",
    requires: "Artifact `software.amazon.awssdk:sqs`",
    program: `import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;

public class SendEvent {
  public static void main(String[] arguments) {
    var queueUrl = {{"url"}};
    var builder = SqsClient.builder();
    builder.endpointOverride(URI.create({{"endpoint"}}));
    builder.region(Region.of({{"region"}}));
    builder.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("none", "none")));
    var event = """
        MESSAGE""";
    try (var sqs = builder.build()) {
      var sent = sqs.sendMessage(request -> request.queueUrl(queueUrl).messageBody(event));
      System.out.println("sent " + sent.messageId());
    }
  }
}`,
  },
  {
    language: "TypeScript",
    requires: "`npm install @aws-sdk/client-sqs`",
    program: `import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

const QueueUrl = {{"url"}};
const sqs = new SQSClient({
  endpoint: {{"endpoint"}},
  region: {{"region"}},
  credentials: { accessKeyId: "none", secretAccessKey: "none" },
});
const event = MESSAGE;
const MessageBody = JSON.stringify(event);
const sent = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
console.log("sent", sent.MessageId);`,
  },
];

/** The same programs with the credentials of the environment. */
const amazon = standIn.map(({ program, ...snippet }) => {
  const lines = program.split("\n").filter((line) => !/credentials|"none"/i.test(line));
  return { ...snippet, program: lines.join("\n") };
});

/** They wait until RabbitMQ has confirmed the message. */
const rabbitmq: Snippet[] = [
  {
    language: "Python",
    requires: "`pip install pika`",
    program: `import os
import pika

connection = pika.BlockingConnection(pika.URLParameters(os.environ["AMQP_URL"]))
channel = connection.channel()
channel.confirm_delivery()
event = r"""MESSAGE"""
properties = pika.BasicProperties(content_type="application/json", delivery_mode=2)
channel.basic_publish("", {{"queue"}}, event, properties, mandatory=True)
connection.close()
print("sent")`,
  },
  {
    language: "Java",
    requires: "Artifact `com.rabbitmq:amqp-client`",
    program: `import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import java.nio.charset.StandardCharsets;

public class SendEvent {
  public static void main(String[] arguments) throws Exception {
    var factory = new ConnectionFactory();
    factory.setUri(System.getenv("AMQP_URL"));
    var event = """
        MESSAGE""";
    try (var connection = factory.newConnection(); var channel = connection.createChannel()) {
      channel.confirmSelect();
      var body = event.getBytes(StandardCharsets.UTF_8);
      channel.basicPublish("", {{"queue"}}, MessageProperties.PERSISTENT_BASIC, body);
      channel.waitForConfirmsOrDie(10_000);
      System.out.println("sent");
    }
  }
}`,
  },
  {
    language: "TypeScript",
    requires: "`npm install amqplib`",
    program: `import amqp from "amqplib";

const connection = await amqp.connect(process.env.AMQP_URL ?? "");
const channel = await connection.createConfirmChannel();
const event = MESSAGE;
const body = Buffer.from(JSON.stringify(event));
channel.sendToQueue({{"queue"}}, body, { contentType: "application/json", persistent: true });
await channel.waitForConfirms();
await connection.close();
console.log("sent");`,
  },
];

/** They wait until Kafka has confirmed the message. */
const kafka: Snippet[] = [
  {
    language: "Python",
    requires: "`pip install kafka-python`",
    program: `from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers={{"url"}}.split(","), acks="all")
event = r"""MESSAGE"""
sent = producer.send({{"topic"}}, event.encode()).get(timeout=30)
producer.close()
print("sent", sent.offset)`,
  },
  {
    language: "Java",
    requires: "Artifact `org.apache.kafka:kafka-clients`",
    program: `import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

public class SendEvent {
  public static void main(String[] arguments) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", {{"url"}}, "acks", "all");
    var event = """
        MESSAGE""";
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      var sent = producer.send(new ProducerRecord<>({{"topic"}}, event)).get();
      System.out.println("sent " + sent.offset());
    }
  }
}`,
  },
  {
    language: "TypeScript",
    requires: "`npm install @platformatic/kafka`",
    program: `import { ProduceAcks, Producer, stringSerializers } from "@platformatic/kafka";

const bootstrapBrokers = {{"url"}}.split(",");
const producer = new Producer({ clientId: "producer", bootstrapBrokers, serializers: stringSerializers });
const event = MESSAGE;
const messages = [{ topic: {{"topic"}}, value: JSON.stringify(event) }];
await producer.send({ messages, acks: ProduceAcks.ALL });
await producer.close();
console.log("sent");`,
  },
];

/** The programs for each kind of queue, with an introduction in Markdown. */
export const publishing: Record<string, { introduction: string; snippets: Snippet[] }> = {
  "stand-in": {
    introduction:
      "The queue of this service is `{{url}}`. It has the API of Amazon SQS and accepts any credentials.",
    snippets: standIn,
  },
  amazon: {
    introduction: `The queue of this service is \`{{url}}\`. A producer needs credentials of AWS that permit
\`sqs:SendMessage\`; the SDK takes them from the environment.`,
    snippets: amazon,
  },
  rabbitmq: {
    introduction: `The queue of this service is \`{{queue}}\` of the RabbitMQ at \`{{url}}\`. The programs read this URL,
with the user and the password of the producer (\`amqp://USER:PASSWORD@…\`), from the variable \`AMQP_URL\`.`,
    snippets: rabbitmq,
  },
  kafka: {
    introduction: `The queue of this service is the topic \`{{topic}}\` of the Kafka at \`{{url}}\`. If its brokers require
TLS or a password, the producer needs these settings, too.`,
    snippets: kafka,
  },
};

const example = (path: string) => readFileSync(join(root, "examples", path), "utf8").trimEnd();

/** The programs that receive webhooks, with an introduction in Markdown. `npm run receivers` runs them. */
export const receiving: { introduction: string; snippets: Snippet[] } = {
  introduction: `The programs verify each request with the library of Standard Webhooks. They print an event once, although it
can arrive again. Start one with its port and the secret, as \`PORT\` and \`WEBHOOK_SECRET\`, and the ledger with
\`PUBLISH_URL=http://:SECRET@localhost:PORT\`, with the secret percent-encoded. They remember the ids in memory. A receiver
that must not handle an event twice writes its id in the same transaction as what it does with the event.`,
  snippets: [
    {
      language: "TypeScript",
      requires: "`npm install standardwebhooks`",
      program: example("webhook-typescript/receive.ts"),
    },
    {
      language: "Python",
      requires: "`pip install standardwebhooks`",
      program: example("webhook-python/receive.py"),
    },
    {
      language: "Go",
      requires: "`go get github.com/standard-webhooks/standard-webhooks/libraries/go`",
      program: example("webhook-go/receive.go"),
    },
  ],
};

/** A program with this event, indented as the line is that contains it. */
export const withMessage = (program: string, event: unknown): string =>
  program.replace(/^( *)(.*)MESSAGE/m, (_, indent, before) => {
    const json = JSON.stringify(event, null, 2).replaceAll("\n", `\n${indent}`);
    return `${indent}${before}${json}`;
  });
