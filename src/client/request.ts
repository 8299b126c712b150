import type { ClientOperation } from "./operation.ts";

/** The request for these parameters and this body. Undefined values are left out. Throws a TypeError for wrong ones. */
export function requestOf(operation: ClientOperation, given: object) {
  const { body, ...values } = given as Record<string, unknown>;
  const { operationId, parameters } = operation;
  const unknown = Object.keys(values).find((name) => !parameters.some((declared) => declared.name === name));
  if (unknown !== undefined) throw new TypeError(`${operationId} has no parameter ${unknown}`);
  if (body !== undefined && !operation.hasBody) throw new TypeError(`${operationId} has no body`);
  const declared = parameters.filter(
    ({ name, in: place }) => place === "header" && values[name] !== undefined,
  );
  const headers = Object.fromEntries(declared.map(({ name }) => [name, String(values[name])]));
  const path = addressOf(operation, values);
  if (body === undefined) return { path, headers, body };
  return { path, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** The path and query of a request. A list is joined by commas or repeated, as its parameter declares. */
function addressOf({ operationId, path, parameters }: ClientOperation, values: Record<string, unknown>) {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place, isJoined } of parameters) {
    const value = values[name];
    if (place === "path" && (value === undefined || value === "")) {
      throw new TypeError(`${operationId} requires ${name}`);
    }
    if (isJoined && [value].flat().some((one) => String(one).includes(","))) {
      throw new TypeError(`${operationId}: ${name} must not contain a comma`);
    }
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (value === undefined || place === "header") continue;
    else if (isJoined || !Array.isArray(value)) query.set(name, String(value));
    else for (const one of value) query.append(name, String(one));
  }
  const search = String(query);
  return search ? `${address}?${search}` : address;
}
