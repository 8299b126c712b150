import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** How a client begins: by the handshake of 2025, or without one by the revision of 2026-07-28. */
export const mcpModes = { "the handshake of 2025": "legacy", "2026-07-28": { pin: "2026-07-28" } } as const;

export type McpMode = keyof typeof mcpModes;

/** The official client of the Model Context Protocol, connected to a service. */
export async function openMcpClient(
  base: string,
  mode: McpMode = "2026-07-28",
  headers: Record<string, string> = {},
) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: mcpModes[mode] } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }),
  );
  return {
    client,
    /** Calls a tool. Resolves with its text, and whether it is an error. */
    async call(name: string, given: Record<string, unknown> = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: given });
      const [first] = content;
      return { isError, text: first?.type === "text" ? first.text : "" };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
