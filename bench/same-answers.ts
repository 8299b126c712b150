import { request } from "undici";

/** Throws unless both answer the same to each of these paths. */
export async function expectSameAnswers(url: string, other: string, paths: string[]): Promise<void> {
  for (const path of paths) {
    const [answer, otherAnswer] = await Promise.all([bodyAt(url, path), bodyAt(other, path)]);
    if (answer !== otherAnswer) {
      throw new Error(`${path} is answered in two ways:\n${answer}\n${otherAnswer}`);
    }
  }
}

/** The body of a success; links in it begin with `http://ledger.test`, whoever answers. */
async function bodyAt(url: string, path: string): Promise<string> {
  const { statusCode, body } = await request(url + path, { headers: { host: "ledger.test" } });
  if (statusCode !== 200) throw new Error(`${path} is answered with ${statusCode}`);
  return body.text();
}
