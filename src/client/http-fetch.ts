import type { Http } from "./http.ts";

/** HTTP by an implementation of `fetch`. */
export const httpByFetch = (fetch: typeof globalThis.fetch): Http => ({
  resolvesPaths: true,
  async send({ origin, path, method, headers, body, signal }) {
    const response = await fetch(origin + path, { method, headers, body, signal, redirect: "manual" });
    const { status, headers: received } = response;
    return { status, headers: received, text: () => response.text(), chunks: () => chunksOf(response.body) };
  },
});

/** HTTP in browsers and wherever there is `fetch`, which is looked up for each request. */
export const http = httpByFetch((url, options) => globalThis.fetch(url, options));

/** Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, void> {
  const reader = body?.getReader();
  try {
    for (;;) {
      const part = await reader?.read();
      if (part?.value === undefined) return;
      yield part.value;
    }
  } finally {
    await reader?.cancel();
  }
}
