// Renders the contract of the service that serves this page.

const place = document.querySelector("#contract");
const prefilled = place.dataset.prefilled.split(" ");
const contract = await (await fetch("openapi.json")).json();

// The policy of the page allows requests to its own origin only, and a proxy can serve the service below any path.
contract.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }];

// A form sends what it contains. It contains the examples of the parameters that a request needs, but no other examples
// and no defaults: a search with all of them finds nothing. The description has them instead.
const operations = Object.values(contract.paths).flatMap((path) => Object.values(path));
const groups = [contract.components, ...operations].map((owner) => owner?.parameters ?? {});
for (const parameter of groups.flatMap((group) => Object.values(group))) {
  const { name, required, example, description = "", schema } = parameter;
  // A description beside a reference would replace that of the parameter.
  if (parameter.$ref || required || prefilled.includes(name)) continue;
  const notes = [
    schema?.default === undefined ? "" : `Default: \`${schema.default}\`.`,
    example === undefined ? "" : `For example \`${[example].flat().join(",")}\`.`,
  ];
  parameter.description = [description, ...notes].filter((text) => text !== "").join("\n\n");
  delete parameter.example;
  delete schema?.default;
}

/** The stream of each operation that has one, to end it. */
const streams = new Map();
/** The last characters of a stream are shown. */
const shownMax = 100_000;
const showEveryMs = 200;

/**
 * Fetches a response. Swagger UI shows a response when it is complete; this calls `show` while a stream arrives. When the
 * stream ends or the signal aborts, it resolves with what has arrived.
 */
async function fetchStream(url, request, signal, show) {
  const response = await fetch(url, { ...request, signal });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const { status, statusText, headers } = response;
  const began = Date.now();
  let text = "";
  let shown;
  const showNew = () => {
    if (text === shown) return;
    shown = text;
    const duration = Date.now() - began;
    show({ url, status, statusText, headers: Object.fromEntries(headers), text, duration });
  };
  showNew();
  const timer = setInterval(showNew, showEveryMs);
  try {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text = (text + part.value).slice(-shownMax);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(timer);
  }
  return new Response(text, { status, statusText, headers });
}

const streamOf = (path, method) => streams.get(`${method} ${path}`);
const endStream = (path, method) => streamOf(path, method)?.abort();

/** A request ends the stream of an earlier one of its operation. */
const executeRequest =
  (execute, { specActions }) =>
  (request) => {
    const { pathName: path, method } = request;
    endStream(path, method);
    const stream = new AbortController();
    const key = `${method} ${path}`;
    streams.set(key, stream);
    return execute({
      ...request,
      userFetch: (url, options) =>
        fetchStream(url, options, stream.signal, (response) =>
          specActions.setResponse(path, method, response),
        ).finally(() => streams.get(key) === stream && streams.delete(key)),
    });
  };

/** While a stream arrives, the button ends it. */
const clear =
  (Clear, { React }) =>
  (props) => {
    const { path, method } = props;
    React.useEffect(() => () => endStream(path, method), [path, method]);
    if (!streamOf(path, method)) return React.createElement(Clear, props);
    const onClick = () => endStream(path, method);
    return React.createElement(
      "button",
      { className: "btn btn-clear opblock-control__btn", onClick },
      "End stream",
    );
  };

/** The parts of the page. Those of Swagger UI's own layout would be a second main part and a choice of one server. */
const layout =
  ({ React: { createElement }, getComponent, specSelectors }) =>
  () => {
    const part = (name) =>
      createElement("div", { className: "wrapper", key: name }, createElement(getComponent(name, true)));
    return createElement("div", { className: "swagger-ui" }, [
      createElement(getComponent("SvgAssets"), { key: "images" }),
      part("errors"),
      part("InfoContainer"),
      specSelectors.securityDefinitions() && part("AuthorizeBtnContainer"),
      createElement("h2", { className: "unseen", key: "heading" }, "Operations"),
      part("operations"),
      part("Models"),
    ]);
  };

/** The button around the path of an operation links to it already. */
const pathText =
  ({ React }) =>
  ({ text }) =>
    React.createElement("span", null, text);

/** Adds what Swagger UI leaves out for screen readers and keyboards: names of controls, and focus on what scrolls. */
function completeMarkup() {
  for (const control of place.querySelectorAll(":is(input, select, textarea):not([aria-label], [id])")) {
    control.ariaLabel = control.closest("[data-param-name]")?.dataset.paramName ?? "Example or request body";
  }
  for (const code of place.querySelectorAll("pre:not([tabindex])")) code.tabIndex = 0;
  for (const region of place.querySelectorAll("[role=region]:not([aria-label])"))
    region.ariaLabel = region.id;
}
new MutationObserver(completeMarkup).observe(place, { childList: true, subtree: true });

// Swagger UI has a dark mode, but no switch that follows the system.
const dark = matchMedia("(prefers-color-scheme: dark)");
const setMode = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", setMode);
setMode();

window.SwaggerUIBundle({
  spec: contract,
  domNode: place,
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [
    (system) => ({
      components: { Page: layout(system), DeepLink: pathText(system) },
      wrapComponents: { clear },
      statePlugins: { spec: { wrapActions: { executeRequest } } },
    }),
  ],
  layout: "Page",
});
