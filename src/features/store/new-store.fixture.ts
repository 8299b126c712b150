import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";

/** An empty store of a test's own, without parameters in its URL. */
export interface NewStore extends AsyncDisposable {
  url: string;
}

const newMemory = async (): Promise<NewStore> => ({ url: "memory:", async [Symbol.asyncDispose]() {} });

/** In a folder whose name has to be encoded, and looks like a file's. */
export async function newLmdb(): Promise<NewStore> {
  const folder = await mkdtemp(join(tmpdir(), "embedded store.v1-"));
  return {
    url: `lmdb:${encodeURI(folder)}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Describes tests of what must be the same in each store that several processes can share. */
export function describeOnSharedStores(title: string, tests: (make: () => Promise<NewStore>) => void): void {
  describe(`${title} (lmdb:)`, () => tests(newLmdb));
}

/** Describes tests of what must be the same in each store. */
export function describeOnStores(title: string, tests: (make: () => Promise<NewStore>) => void): void {
  describe(`${title} (memory:)`, () => tests(newMemory));
  describeOnSharedStores(title, tests);
}
