import { hash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createPlainServer, request as forward } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { isOpensslInstalled, makeCertificate } from "../../../../testing/certificate.ts";
import { describeIfAvailable } from "../../../../testing/describe-if-available.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { freePort } from "../../../../testing/free-port.ts";
import { newFolder, run, withoutProgress } from "../../../../testing/run.ts";
import { clientUrl } from "../address.ts";
import { openQueue } from "../queues.ts";
import { regionOf } from "./sqs.ts";

const waitMs = 20_000;

describeIfAvailable("openssl", isOpensslInstalled())("a queue of Amazon SQS", () => {
  test("is called over TLS, with the credentials of the environment and the region of the URL", async () => {
    using files = makeCertificate("127.0.0.1");
    const embedded = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    await using queue = await openQueue(embedded);
    const { hostname: host, port, pathname } = new URL(clientUrl(embedded).replace("sqs+", ""));
    const signers = new Set<string | undefined>();
    const secrets = { cert: readFileSync(files.certificate), key: readFileSync(files.key) };
    const server = createServer(secrets, (request, response) => {
      const { method, url: path, headers } = request;
      signers.add(/Credential=([^,]+)/.exec(headers.authorization ?? "")?.[1]?.replace(/\d{8}/, "DAY"));
      request.pipe(
        forward({ host, port, method, path, headers }, (forwarded) => {
          response.writeHead(forwarded.statusCode ?? 500, forwarded.headers);
          forwarded.pipe(response);
        }),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");

    const url = `sqs+https://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
    const env = {
      QUEUE_URL: `${url}?region=eu-west-2`,
      AWS_ACCESS_KEY_ID: "KEY",
      AWS_SECRET_ACCESS_KEY: "secret",
      NODE_EXTRA_CA_CERTS: files.certificate,
    };
    async function send(env: object) {
      const options = { args: ["-"], input: '{"a":1}\n', env };
      const exit = await run("src/ledger/commands/send-events.ts", options).exit;
      return { ...exit, errors: withoutProgress(exit.errors) };
    }
    expect(await send(env)).toMatchObject({ code: 0, errors: "", output: `sent 1 message to ${url}\n` });
    expect([...signers]).toEqual(["KEY/DAY/eu-west-2/sqs/aws4_request"]);
    const [delivery] = await queue.receive(1, waitMs, AbortSignal.timeout(waitMs));
    expect(delivery?.body).toBe('{"a":1}');
    expect(await send({ ...env, NODE_EXTRA_CA_CERTS: "" })).toMatchObject({
      code: 1,
      errors: expect.stringContaining(`no queue responds at ${url}: self-signed certificate`),
    });
    server.close();
  });
});

test.each([
  ["sqs.eu-west-2.amazonaws.com", "eu-west-2"],
  ["sqs-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"],
  ["vpce-1.sqs.eu-west-2.vpce.amazonaws.com", "eu-west-2"],
  ["localhost:4566", undefined],
])("the region of %s is %s", (host, region) => {
  expect(regionOf(host)).toBe(region);
});

test("messages for a FIFO queue have their resource as group and an id of their own, and are sent in order", async () => {
  type Entry = { MessageBody: string; MessageGroupId: string; MessageDeduplicationId: string };
  const entries: Entry[] = [];
  const regions = new Set<string | undefined>();
  let inFlight = 0;
  let mostInFlight = 0;
  const server = createPlainServer(async (request, response) => {
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    const { Entries = [] } = JSON.parse(await text(request)) as { Entries?: (Entry & { Id: string })[] };
    regions.add(/Credential=[^/]+\/\d+\/([^/]+)/.exec(request.headers.authorization ?? "")?.[1]);
    entries.push(...Entries);
    response.setHeader("content-type", "application/x-amz-json-1.0");
    const sent = Entries.map(({ Id, MessageBody }) => ({
      ...{ Id, MessageId: Id, MD5OfMessageBody: hash("md5", MessageBody) },
    }));
    inFlight -= 1;
    response.end(JSON.stringify({ Successful: sent, Failed: [] }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using queue = await openQueue(`sqs+http://127.0.0.1:${port}/1/q.fifo?region=eu-west-2`);
  const event = (id: string, amount: number) =>
    JSON.stringify({ resource_type: "payment", resource_external_id: id, event_details: { amount } });
  const bodies = Array.from({ length: 40 }, (_, index) => event(String(index % 3), index));
  await queue.send([...bodies, "1", "null"]);
  server.close();
  expect(mostInFlight).toBe(1);
  expect(entries.map(({ MessageBody }) => MessageBody)).toEqual([...bodies, "1", "null"]);
  const groups = Map.groupBy(entries.slice(0, 40), ({ MessageGroupId }) => MessageGroupId);
  expect([...groups.values()].map(({ length }) => length)).toEqual([14, 13, 13]);
  expect(new Set(entries.map((entry) => entry.MessageDeduplicationId)).size).toBe(42);
  expect(entries.every(({ MessageGroupId }) => /^[\da-f]{64}$/.test(MessageGroupId))).toBe(true);
  expect([...regions]).toEqual(["eu-west-2"]);
});

test("a batch with a rejected message fails", async () => {
  const server = createPlainServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/x-amz-json-1.0");
    response.end(
      JSON.stringify({
        Successful: [{ Id: "0", MessageId: "m", MD5OfMessageBody: "c4ca4238a0b923820dcc509a6f75849b" }],
        Failed: [{ Id: "1", Code: "InternalError", SenderFault: false, Message: "not this one" }],
      }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  await using queue = await openQueue(`sqs+http://127.0.0.1:${(server.address() as AddressInfo).port}/1/q`);
  await expect(queue.send(["1", "2"])).rejects.toThrow("the queue rejected 1 of 2 entries: not this one");
  server.close();
});

test("a client of SQS works again after a restart of the server", async () => {
  const embedded = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
  await using client = await openQueue(clientUrl(embedded));
  {
    await using _server = await openQueue(embedded);
    await client.send(["1"]);
  }
  await expect(client.countWaiting()).rejects.toThrow();
  await expect(client.send(["2"])).rejects.toThrow();
  await expect(client.receive(1, waitMs, AbortSignal.timeout(waitMs))).rejects.toThrow();
  await using _restarted = await openQueue(embedded);
  await eventually(() => client.send(["3"]));
  const bodies: string[] = [];
  while (bodies.length < 2) {
    bodies.push(...(await client.receive(10, waitMs, AbortSignal.timeout(waitMs))).map(({ body }) => body));
  }
  expect(bodies.sort()).toEqual(["1", "3"]);
});

test("a request does not wait for the many that wait for messages", async () => {
  await using queue = await openQueue(`sqs+embedded:${newFolder()}?port=${await freePort()}`);
  const stop = new AbortController();
  // More than the SDK opens connections by default.
  let ended = 0;
  const receiving = Array.from({ length: 60 }, async () => {
    await queue.receive(1, waitMs, stop.signal);
    ended += 1;
  });
  expect(await queue.countWaiting()).toBe(0);
  expect(ended).toBe(0);
  stop.abort();
  await Promise.all(receiving);
});
