export const escapeHtml = (text: unknown): string =>
  String(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Text with code between backticks. */
export const prose = (text: unknown = ""): string =>
  escapeHtml(text).replaceAll(/`([^`]*)`/g, "<code>$1</code>");

interface Page {
  title: string;
  /** The way from the folder of the page to the root of the service. Default: the page is in the root. */
  root?: string;
  /** Links to related pages. Undefined ones are left out. */
  links: ([href: string, text: string] | undefined)[];
  /** HTML of the head, and of the main part of the body. */
  head?: string;
  content: string;
}

const linkTo = (href: string, text: string) => `<a href="${href}">${escapeHtml(text)}</a>`;

/** A page of the documentation. All URLs are relative, since a proxy can serve the service below any path. */
export const htmlPage = ({ title, root = "", links, head = "", content }: Page): string =>
  htmlDocument(
    title,
    `${head}
    <link rel="stylesheet" href="${root}docs/docs.css">`,
    `    <header>
      <nav aria-label="Contracts">${links.flatMap((link) => (link ? linkTo(...link) : [])).join(" ")}</nav>
    </header>
    <main>
${content}
    </main>`,
  );

/** An icon with the first letter of a title, so that the tabs of the services differ. */
const iconOf = (title: string): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b2a41"/><text x="8" y="12" font-family="sans-serif" font-size="11" font-weight="bold" text-anchor="middle" fill="#fff">${escapeHtml(title.slice(0, 1))}</text></svg>`,
  ).replaceAll("'", "%27")}`;

/** A document with the head that all pages have, HTML that follows in the head, and a body. */
export const htmlDocument = (title: string, head: string, body: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="${iconOf(title)}">${head}
  </head>
  <body>
${body}
  </body>
</html>
`;

/** A box of its own for HTML that can be wider than the page. It scrolls, by keyboard too. */
export const scrollBox = (html: string): string => `<div class="scroll" tabindex="0">${html}</div>`;

/**
 * Completes a generated page, by default of HTML. Of the sections with `data-kind` only those of this kind stay.
 * `{{name}}` becomes the value of the name, and `{{"name"}}` its value as a JSON text, which most languages read as a
 * string.
 */
export const completePage = (
  page: string,
  { kind, ...values }: PageValues,
  written: (text: unknown) => string = escapeHtml,
): string =>
  page
    .replaceAll(/<section data-kind="([^"]*)">.*?<\/section>\n/gs, (section, name) =>
      name === kind ? section : "",
    )
    .replaceAll(/\{\{(&quot;|"|)(\w+)\1\}\}/g, (_, quote, name) =>
      written(quote ? JSON.stringify(values[name]) : values[name]),
    );

/** The kind of the sections to keep, and the values that the page names. */
export interface PageValues {
  kind: string;
  [name: string]: string;
}
