import { request } from "undici";
import { requestLine } from "./wrk.ts";

/** Throws if the two servers respond to one of the requests (see `Load.requests`) with different JSON. */
export async function expectSameResponses(url: string, otherUrl: string, lines: string[]): Promise<void> {
  for (const line of lines) {
    const [body, otherBody] = await Promise.all([responseTo(url, line), responseTo(otherUrl, line)]);
    if (body !== otherBody) {
      throw new Error(`the responses to ${line} differ:\n${body}\n${otherBody}`);
    }
  }
}

/** The body of a response with status 200. The Host header is the same for both servers, so links in bodies are too. */
async function responseTo(url: string, line: string): Promise<string> {
  const [method = "", path = "", ...json] = requestLine(line).split(" ");
  const { statusCode, body } = await request(url + path, {
    method: method as "GET" | "POST",
    headers: { host: "localhost", ...(json.length > 0 && { "content-type": "application/json" }) },
    body: json.length > 0 ? json.join(" ") : null,
  });
  if (statusCode !== 200) throw new Error(`the response to ${line} has status ${statusCode}`);
  return JSON.stringify(await body.json());
}
