import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { root } from "../../testing/project.ts";
import { installNpmPackages } from "../checks/generators/install.ts";
import { versions } from "../checks/generators/versions.ts";

/** What is read of a document of the parser. */
interface Schema {
  id(): string;
}
interface Message {
  id(): string;
  payload(): Schema;
  headers(): Schema | undefined;
}
interface Parsed {
  document?: { version(): string; allMessages(): { all(): Message[] } };
  diagnostics: object[];
}

const installed = await installNpmPackages(versions.asyncapiParser).then(
  (modules) => ({ modules, reason: "" }),
  (error: Error) => ({ modules: undefined, reason: error.message.split("\n")[0] ?? "" }),
);

describeIfAvailable(`the parser of AsyncAPI: ${installed.reason}`, installed.modules !== undefined)(
  "the parser of AsyncAPI",
  () => {
    async function parse(change = (text: string) => text): Promise<Parsed> {
      const { Parser } = createRequire(join(installed.modules ?? "", "here.js"))("@asyncapi/parser");
      const text = await readFile(join(root, "generated/payment-events.asyncapi.yaml"), "utf8");
      return new Parser().parse(change(text));
    }

    test("finds nothing wrong, and a name for each payload and for the headers", async () => {
      const { document, diagnostics } = await parse();
      expect(diagnostics).toEqual([]);
      expect(document?.version()).toBe("3.1.0");
      const messages = document?.allMessages().all() ?? [];
      expect(messages.map((message) => message.id())).toContain("TopicEvent");
      for (const message of messages)
        for (const schema of [message.payload(), message.headers()])
          expect(schema?.id() ?? "").not.toContain("anonymous");
    });

    test("finds a version of a binding that the specification does not list", async () => {
      const { diagnostics } = await parse((text) =>
        text.replace("bindingVersion: 0.2.0", "bindingVersion: 9"),
      );
      expect(diagnostics).not.toEqual([]);
    });
  },
);
