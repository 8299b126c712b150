import type { UrlParameter, UrlParameters } from "./parameters.ts";

/** Receives warnings for an operator. */
export type Warn = (text: string) => void;

/** Receives lines about a long start, for an operator. The log of a service is one. */
export type AdapterLog = Record<"debug" | "info" | "warn", (details: object, text: string) => void>;

/** A parsed URL of an adapter. */
export interface Address<Values = object> {
  /** The URL with its first host. */
  url: URL;
  /** The URL with each further host. */
  others: URL[];
  parameters: Values;
  warn: Warn;
  /** Receives what happens while the adapter is opened. */
  log?: AdapterLog | undefined;
}

/** An implementation of a port, selected by the scheme of a URL. Its module is loaded only if it is selected. */
export interface Adapter<Port> {
  /** The form of its URLs, for error messages. */
  form: string;
  // biome-ignore lint/suspicious/noExplicitAny: The values are those of `parameters`.
  load(): Promise<{ open(address: Address<any>): Promise<Port> }>;
  /** True if a URL can have several hosts, separated by commas. */
  hasManyHosts?: true;
  /** The parameter that can replace the host of a URL. Default: none. */
  hostParameter?: string;
  /** The requirement for the path after its first slash. Default: any path. */
  path?: UrlParameter<string>;
  /** The requirement for the password, if there is one. Default: any password. */
  password?: UrlParameter<string>;
  parameters?: UrlParameters;
  /** True if a URL can have further parameters, which belong to the one at its other end. */
  hasForeignParameters?: true;
}

/** Adapters by scheme, with the colon. */
export type Adapters<Port> = Record<string, Adapter<Port>>;
