import { Agent, request } from "undici";

/** Opens a stream of server-sent events and reads it as it arrives. */
export async function listen(base: string, path: string, headers = {}) {
  // A shared agent would open a connection in advance when this one ends, and a service waits for its first request.
  const dispatcher = new Agent();
  const response = await request(base + path, {
    headers: { accept: "text/event-stream", ...headers },
    dispatcher,
  });
  let text = "";
  const ended = (async () => {
    for await (const chunk of response.body) text += chunk;
  })().then(
    () => "by the service",
    () => "by the client",
  );
  return {
    response,
    ended,
    events: () => eventsIn(text),
    stop: () => void dispatcher.destroy(),
    text: () => text,
  };
}

/** The events with an id in the text of a stream. */
export const eventsIn = (text: string) =>
  [...text.matchAll(/id: (.*)\ndata: (.*)\n\n/g)].map(([, id, data = ""]) => ({
    id,
    data: JSON.parse(data),
  }));
