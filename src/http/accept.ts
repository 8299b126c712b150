import Negotiator from "negotiator";

/** The parameters of media types but `q`, such as a charset: the service has one form of each type. */
const mediaTypeParameters = /;(?!\s*q\s*=)[^;,]*/gi;

/** A longer header `Accept` takes long to parse. */
export const acceptMax = 2000;

/** The media type that a caller prefers by the header `Accept`; without a preference it is the first. Undefined if it accepts none. */
export const preferredType = (accept: string, types: string[]): string | undefined =>
  new Negotiator({ headers: { accept: accept.replaceAll(mediaTypeParameters, "") } }).mediaType(types);
