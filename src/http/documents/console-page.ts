import { escapeHtml, htmlDocument } from "./page.ts";

/** The claims of tokens that the console reads, to know what it can offer. */
export interface TokenClaims {
  scopeClaim: string;
  /** The claim with the accounts of the caller, if the service has accounts. */
  accountsClaim?: string | undefined;
}

/**
 * The page into which the script of the console renders; until then it shows its frame. With `claims` the console requires
 * a token from the reader.
 */
export const consolePage = (title: string, claims: TokenClaims | undefined): string =>
  htmlDocument(
    title,
    `
    <link rel="stylesheet" href="console/console.css">
    <script type="module" src="console/console.js"></script>`,
    `    <div id="console"${claims ? ` data-authentication="${escapeHtml(JSON.stringify(claims))}"` : ""}>
      <header><p>${escapeHtml(title)}</p></header>
    </div>
    <noscript>The console needs JavaScript. The API is described at <a href="docs">docs</a>.</noscript>`,
  );
