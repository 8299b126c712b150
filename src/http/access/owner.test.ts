import { expect, test } from "vitest";
import { ownerOf } from "./owner.ts";

const ownerAt = (ip: string) => ownerOf({ ip, caller: undefined });
const callerOf = (claims: Record<string, unknown>) => ({ claims, scopes: new Set<string>(), token: "" });

test("a caller with a token is its subject; one without, its address or its network", () => {
  expect(ownerOf({ ip: "10.0.0.1", caller: callerOf({ sub: "app" }) })).toBe("subject app");
  for (const claims of [{}, { sub: 5 }, { sub: null }])
    expect(ownerOf({ ip: "10.0.0.1", caller: callerOf(claims) })).toBe("address 10.0.0.1");
});

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:127.0.0.1", "127.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8::", "2001:db8:0:0"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["::", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
])("the address %s is of %s", (ip, network) => {
  expect(ownerAt(ip)).toBe(`address ${network}`);
});

test("no text of a caller is another owner", () => {
  for (const sub of ["", "purpose event streams", "address 127.0.0.1", " "])
    expect(ownerOf({ ip: "127.0.0.1", caller: callerOf({ sub }) })).toBe(`subject ${sub}`);
});
