import type { FastifyInstance } from "fastify";

/**
 * Makes the service listen. Resolves with its URL, for example `http://127.0.0.1:8081`. If it cannot, rejects with a
 * message that names the setting to change: `HOST`, or the setting of the port.
 */
export async function listen(
  app: FastifyInstance,
  { host, portSetting, port }: { host: string; portSetting: string; port: number },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const another = `set ${portSetting} to another port (0 selects a free one)`;
    if (code === "EADDRINUSE")
      throw new Error(`port ${port} of ${host} is in use by another program; ${another}`);
    if (code === "EACCES")
      throw new Error(`this user has no permission to listen at port ${port}; ${another}`);
    throw new Error(`HOST ${host} is no address of this machine: ${message}`);
  }
}
