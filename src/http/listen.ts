import type { FastifyInstance } from "fastify";

interface ListenOptions {
  host: string;
  /** The name of the setting of the port. */
  portSetting: string;
  port: number;
  /** Other processes of the same user that share the port may listen there, too. Default: false. */
  isShared?: boolean;
}

/**
 * Makes the service listen. Resolves with its URL, for example `http://127.0.0.1:8081`. If it cannot, rejects with a
 * message that names the setting to change.
 */
export async function listen(
  app: FastifyInstance,
  { host, portSetting, port, isShared = false }: ListenOptions,
): Promise<string> {
  try {
    return await app.listen({ host, port, ...(isShared && { reusePort: true }) });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const another = `set ${portSetting} to another port (0 selects a free one)`;
    if (code === "EADDRINUSE")
      throw new Error(`port ${port} of ${host} is in use by another program; ${another}`);
    if (code === "ENOTSUP")
      throw new Error("processes of this system cannot share a port; remove SHARE_PORT");
    if (code === "EACCES")
      throw new Error(`this user has no permission to listen at port ${port}; ${another}`);
    throw new Error(`HOST ${host} is no address of this machine: ${message}`);
  }
}
