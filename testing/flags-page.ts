import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature, ProviderEvents } from "@openfeature/web-sdk";

/** The script of a page that uses the features of a resource as flags, with the defaults of the provider. */
const page = {
  /** The events of the provider, in order. */
  events: [] as string[],
  /** Resolves when the provider is ready. */
  async open(options: { baseUrl: string; headers?: [string, string][] }, targetingKey: string) {
    for (const event of Object.values(ProviderEvents)) {
      OpenFeature.addHandler(event, () => void page.events.push(event));
    }
    await OpenFeature.setProviderAndWait(new OFREPWebProvider(options), { targetingKey });
  },
  detailsOf: (flag: string) => OpenFeature.getClient().getBooleanDetails(flag, false),
};

export type FlagsPage = typeof page;

Object.assign(globalThis, { flagsPage: page });
