import pg from "pg";

const mechanism = "SCRAM-SHA-256-PLUS";

/**
 * A client that requires channel binding: the proof of the password holds for this TLS connection only, so that a server
 * between cannot pass it on (RFC 7677). The driver only prefers it. It would send the password to a server that asks for
 * it, and accept one that asks for no proof.
 */
export class BoundClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this;
    let isProven = false;
    const reject = () =>
      connection.stream.destroy(
        new Error(`the server does not use ${mechanism}, which channel_binding=require needs`),
      );
    // The listeners of the driver come later, when it connects.
    connection.on("authenticationSASL", ({ mechanisms }: { mechanisms: string[] }) => {
      if (!mechanisms.includes(mechanism)) reject();
    });
    connection.on("authenticationCleartextPassword", reject);
    connection.on("authenticationMD5Password", reject);
    connection.on("authenticationSASLFinal", () => {
      isProven = true;
    });
    connection.on("authenticationOk", () => {
      if (!isProven) reject();
    });
  }
}
