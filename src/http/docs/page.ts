export const escapeHtml = (text: unknown): string =>
  String(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

interface Page {
  title: string;
  /** Links to related pages. */
  links: [href: string, text: string][];
  /** HTML of the head, and of the body below the links. */
  head?: string;
  content: string;
}

/** A page of the documentation. */
export const htmlPage = ({ title, links, head = "", content }: Page): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/docs.css">${head}
  </head>
  <body>
    <nav>${links.map(([href, text]) => `<a href="${href}">${escapeHtml(text)}</a>`).join(" ")}</nav>
${content}
  </body>
</html>
`;
