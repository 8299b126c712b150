import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProcess } from "../../testing/child-process.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { root } from "../../testing/project.ts";
import { run } from "../../testing/run.ts";
import { findProgram } from "../../testing/servers/server.ts";
import { newInstallation } from "../main.fixture.ts";

interface Command {
  command: string;
  /** The comment behind it. */
  result: string;
}

/** The commands with curl in the README. A backslash continues a line, and so does an open quotation mark. */
function readmeCommands(): Command[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const blocks = Array.from(readme.matchAll(/^```sh\n(.*?)^```/gms), ([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.match(/^curl (?:\\\n|'[^']*'|[^\n'\\])*$/gm) ?? []);
  return lines.map((line) => {
    const [, command = line, result = ""] = /^(.*?)\s+# (.*)$/s.exec(line) ?? [];
    return { command, result };
  });
}

/** The JSON at the beginning of a text. */
const jsonIn = (text: string) => /^(?:\{.*\}|\[.*\])/.exec(text)?.[0];

describeIfAvailable("curl", findProgram("curl") !== undefined)("the commands of the README", () => {
  test("have the results that it shows, after the demonstration", async () => {
    const { folder, env, start, ledger, features } = await newInstallation({ EVENT_WRITES: "true" });
    const stop = await start();
    const { code, output } = await run("scripts/demo/demo.ts", { env, folder }).exit;
    expect(code).toBe(0);
    const commands = readmeCommands();
    expect(commands.length).toBeGreaterThan(18);
    const requestsOfDemo = Array.from(output.matchAll(/^curl .*$/gm), ([command]) => ({
      command,
      result: "",
    }));
    expect(requestsOfDemo.length).toBeGreaterThan(20);
    for (const { command, result } of [...commands, ...requestsOfDemo]) {
      const isStream = command.includes("curl -sN");
      const local = command
        .replace("http://127.0.0.1:8080", features)
        .replace("http://127.0.0.1:8081", ledger)
        .replace("curl ", `curl --max-time ${isStream ? 5 : 60} --write-out '\n%{http_code}' `);
      const exit = await runProcess(["bash", "-c", local]);
      const [, body = "", status] = /^(.*)\n(\d{3})$/s.exec(exit.output) ?? [];
      // Curl ends a stream after 5 seconds, with this code.
      expect([command, exit.code]).toEqual([command, isStream ? 28 : 0]);
      expect([command, status]).toEqual([command, expect.stringMatching(/^2/)]);
      if (/^\d{3}$/.test(result)) expect([command, status]).toEqual([command, result]);
      const json = jsonIn(result);
      if (json !== undefined) expect([command, JSON.parse(body)]).toEqual([command, JSON.parse(json)]);
    }
    await stop();
  });
});
