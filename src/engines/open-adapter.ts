import type { AdapterLog, Adapters, Warn } from "./adapter.ts";
import { readParameters } from "./parameters.ts";
import { parseUrls } from "./url.ts";
import { adapterFor, findUrlError } from "./url-error.ts";

/** Opens the adapter that the URL selects. It can call `warn` at any time. Throws if the URL is invalid. */
export async function openAdapter<Port>(
  adapters: Adapters<Port>,
  text: string,
  warn: Warn = () => {},
  log?: AdapterLog,
): Promise<Port> {
  const error = findUrlError(adapters, text);
  const [url, ...others] = parseUrls(text) as [URL, ...URL[]];
  const adapter = error === undefined && adapterFor(adapters, url);
  if (!adapter) throw new Error(`the URL ${error}`);
  const { open } = await adapter.load();
  return open({ url, others, parameters: readParameters(url, adapter.parameters ?? {}), warn, log });
}
