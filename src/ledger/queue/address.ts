import { readParameters } from "../../engines/parameters.ts";
import { embeddedParameters } from "./parameters.ts";

export const embeddedQueue = "payment-events";

/** The port of the embedded server, on loopback. */
const embeddedPortOf = (url: URL) => readParameters(url, embeddedParameters).port;

/** The folder of an embedded queue. */
export const embeddedFolder = (url: URL) => decodeURIComponent(url.pathname);

/** The queue URL of an embedded server for SQS clients. */
export const embeddedQueueUrl = (port: number) => `http://127.0.0.1:${port}/000000000000/${embeddedQueue}`;

/** Most stand-ins accept any region; some keep the queues of each region apart. */
export const standInRegion = "us-east-1";

export const standInAddress = (url: string, region = standInRegion) => ({
  kind: "stand-in" as const,
  url,
  endpoint: new URL(url).origin,
  region,
});

/** The address of the queue with the default settings. */
export const defaultAddress = standInAddress(embeddedQueueUrl(embeddedParameters.port.default));

/** The URL by which other processes reach the queue. It differs only for an embedded queue. */
export const clientUrl = (text: string): string =>
  text.startsWith("sqs+embedded:") ? `sqs+${embeddedQueueUrl(embeddedPortOf(new URL(text)))}` : text;
