/**
 * A page whose functions send whatever a page can send to another origin without its permission. Its script has the types of a
 * browser, so it is a text.
 */
export const attackPage = `<!doctype html><title>attack</title><body><script>
const forms = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/** Forms of each type, requests without CORS, requests that need a preflight, and a beacon. */
async function sendAll(url, body) {
  const send = (options) => fetch(url, options).catch(() => {});
  const noCors = { method: "POST", mode: "no-cors" };
  for (const type of forms) await send({ ...noCors, headers: { "content-type": type }, body });
  await send(noCors);
  await send({ ...noCors, body: new Blob([body]) });
  for (const method of ["POST", "PUT", "DELETE"])
    await send({ method, headers: { "content-type": "application/json" }, body });
  navigator.sendBeacon(url, body);
  for (const type of forms) {
    const name = url + body + type;
    const frame = Object.assign(document.createElement("iframe"), { name });
    const form = Object.assign(document.createElement("form"), { action: url, method: "post", enctype: type, target: name });
    for (const [name, value] of new URLSearchParams(body))
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    document.body.append(frame, form);
    const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
    form.submit();
    await loaded;
  }
}

/** The text of each response that the page can read. */
const readAll = (urls) =>
  Promise.all(urls.map((url) => fetch(url).then((response) => response.text()).catch(() => "")));
</script>`;
