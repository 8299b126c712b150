import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { contractOf, operation, serve } from "./service.fixture.ts";

const object = { "application/json": { schema: { type: "object" } } };
const contract = contractOf({
  "/": { post: operation("add", object, { requestBody: { required: true, content: object } }) },
});

/** The bytes of a body that is sent in part, and how many of them fit into 32 MiB. */
const partBytes = 1_000_000;
const fitting = Math.floor((32 * 2 ** 20) / partBytes);

test("bodies count while they arrive only; beyond 32 MiB of them, the stalest of the caller with most is dropped", async () => {
  await using service = await serve(contract, { add: async () => ({ status: 200, body: {} }) });
  using sockets = new DisposableStack();
  const port = Number(new URL(service.base).port);
  const part = " ".repeat(partBytes);

  /** Sends a part of a body. Resolves when the service has got it, with the connection and its other end. */
  async function sendPart(headers: string, localAddress = "127.0.0.1") {
    const accepted = once(service.app.server, "connection");
    const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => {});
    sockets.defer(() => void socket.destroy());
    const [atService] = (await accepted) as [Socket];
    const begin = `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;
    socket.write(begin + part);
    while (atService.bytesRead < begin.length + partBytes) await afterThisTurn();
    return { socket, atService };
  }
  const incomplete = "content-length: 1000001";

  const headers = { "content-type": "application/json" };
  for (const [body, type, status] of [
    [`{}${part}`, "application/json", 200],
    [`{${part}`, "application/json", 400],
    [" ".repeat(2 ** 20 + 1), "application/json", 413],
    [part, "text/plain", 415],
  ] as const) {
    for (let times = 0; times < 3; times += 1) {
      const options = { method: "POST", body, headers: { ...headers, "content-type": type } } as const;
      expect((await service.send("/", options)).status).toBe(status);
    }
  }
  for (let times = 0; times < 3; times += 1) {
    const { socket, atService } = await sendPart(incomplete);
    const closed = once(atService, "close");
    socket.destroy();
    await closed;
  }

  const { atService: ofAnother } = await sendPart(incomplete, "127.0.0.2");
  const arriving: Socket[] = [];
  for (let count = 0; count < fitting + 2; count += 1) arriving.push((await sendPart(incomplete)).atService);
  const dropped = arriving.map(({ destroyed }) => destroyed);
  expect(dropped).toEqual(arriving.map((_, index) => index < 3));
  expect(ofAnother.destroyed).toBe(false);
  expect((await service.send("/", { method: "POST", body: "{}", headers })).status).toBe(200);
});

test("a request with a content type and without a body gets 400 at once", async () => {
  await using service = await serve(contract, { add: async () => ({ status: 200, body: {} }) });
  const head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
  const response = await service.sendBytes(head);
  expect(response).toMatch(/^HTTP\/1\.1 400 /);
  expect(response).toContain("a body is required");
});
