import { request } from "undici";

/** Throws if the two servers respond to one of the paths with different JSON. */
export async function expectSameResponses(url: string, otherUrl: string, paths: string[]): Promise<void> {
  for (const path of paths) {
    const [body, otherBody] = await Promise.all([bodyAt(url, path), bodyAt(otherUrl, path)]);
    if (body !== otherBody) {
      throw new Error(`the responses to ${path} differ:\n${body}\n${otherBody}`);
    }
  }
}

/** The body of a response with status 200. The Host header is the same for both servers, so links in bodies are too. */
async function bodyAt(url: string, path: string): Promise<string> {
  const { statusCode, body } = await request(url + path, { headers: { host: "localhost" } });
  if (statusCode !== 200) throw new Error(`the response to ${path} has status ${statusCode}`);
  return JSON.stringify(await body.json());
}
