import { createHash } from "node:crypto";

const urlForm = /^([a-z][a-z\d+.-]*:\/\/)(?:[^/?#]*@)?([^/?#]*)(.*)$/is;
const topicForm = /(?:%3A|:)([\w.-]+)$/i;
const fileForm = /^file:.*?([^/\\?#]*)[/\\]*$/is;

/**
 * The name of a target as it is shown: in health and metrics, where callers need no token, in the log, and with dead letters. A name
 * that is a URL, as the default is, is shown without its path, in which many webhooks have their secret; so it is if the
 * name was given. The name in the database stays the same, since the position of the target belongs to it.
 */
export function shownTargetName(name: string): string {
  const file = fileForm.exec(name);
  if (file) return `file:${file[1]} ${digestOf(name)}`;
  const [, scheme, host, rest = ""] = urlForm.exec(name) ?? [];
  if (scheme === undefined) return name;
  const [, topic] = (/^sns/i.test(scheme) && topicForm.exec(rest)) || [];
  const address = `${scheme}${host}${topic === undefined ? "" : `/${topic}`}`;
  return rest === "" || rest === "/" ? address : `${address} ${digestOf(name)}`;
}

/**
 * Distinguishes two targets of one host. It has 24 bits, so that it does not help to find a path that is a secret: of those
 * that someone tries, one in 16 million fits, and a random path has more than that.
 */
const digestOf = (name: string) => `(${createHash("sha256").update(name).digest("hex").slice(0, 6)})`;
