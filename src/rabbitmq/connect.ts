import amqp, { type Channel, type ChannelModel } from "amqplib";
import { hostOf } from "../engines/url.ts";

const connectMaxMs = 5000;
/** A broker closes a silent connection after 2 to 3 of these and delivers its in-flight messages to others. */
const heartbeatSeconds = 5;

/** Connects to the RabbitMQ at a URL, under this name. Rejects after 5 seconds. */
export function connect(url: URL, connection_name: string): Promise<ChannelModel> {
  const { protocol, port, username, password, pathname } = url;
  return amqp.connect(
    {
      protocol: protocol.slice(0, -1),
      hostname: hostOf(url),
      ...(port && { port: Number(port) }),
      ...(username && { username: decodeURIComponent(username), password: decodeURIComponent(password) }),
      vhost: decodeURIComponent(pathname.slice(1)) || "/",
      heartbeat: heartbeatSeconds,
    },
    { timeout: connectMaxMs, clientProperties: { connection_name } },
  );
}

/** Works on a channel of its own, since a failed call closes its channel. */
export async function onChannel(model: ChannelModel, work: (channel: Channel) => Promise<unknown>) {
  const channel = await model.createChannel();
  channel.on("error", () => {});
  await work(channel);
  await channel.close();
}

/** Declares what does not exist, and returns whether it did not. What exists is used as it is. */
export async function declareMissing(
  model: ChannelModel,
  check: (channel: Channel) => Promise<unknown>,
  declare: (channel: Channel) => Promise<unknown>,
): Promise<boolean> {
  try {
    await onChannel(model, check);
    return false;
  } catch (error) {
    if ((error as { code?: number }).code !== notFound) throw error;
    await onChannel(model, declare);
    return true;
  }
}

const notFound = 404;
