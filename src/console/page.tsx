import { type ComponentChildren, type ComponentType, render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Place } from "./fragment.ts";
import { forgetValues, usePlace, type Visit } from "./history.ts";
import { type Authentication, claimsOf, type Session, SessionContext, sessionOf } from "./session.ts";

/** What a view gets. */
export interface ViewProps {
  place: Place;
  visit: Visit;
}

/** A page of the console. */
export interface View {
  /** The first segment of its path; empty for the start page. */
  name: string;
  title: string;
  /** The text of its link in the navigation. Default: it has none. */
  link?: string;
  /** A token needs one of these scopes to see the view. */
  scopes: string[];
  component: ComponentType<ViewProps>;
}

interface ConsoleProps {
  /** The name of the service. */
  title: string;
  views: View[];
  authentication: Authentication | undefined;
}

/** Renders the console of a service into its page. */
export function openConsole(title: string, views: View[]): void {
  const root = document.querySelector<HTMLElement>("#console");
  const { authentication } = root?.dataset ?? {};
  const given = authentication ? (JSON.parse(authentication) as Authentication) : undefined;
  root?.replaceChildren();
  if (root) render(<Console title={title} views={views} authentication={given} />, root);
}

function Console({ title, views, authentication }: ConsoleProps) {
  const { place, visit } = usePlace();
  useFocusOnHeading(visit);
  const [token, setToken] = useState<string>();
  const [rejection, setRejection] = useState("");
  /** Without a token, `reason` says why the service has rejected the one before. */
  const changeToken = (next: string | undefined, reason = "") => {
    forgetValues();
    setToken(next);
    setRejection(reason);
  };
  const session = useMemo<Session>(
    () => ({
      ...sessionOf(authentication, token),
      reject: (reason) => changeToken(undefined, reason),
    }),
    [authentication, token],
  );
  const isAllowed = ({ scopes }: View) => scopes.some(session.can);
  const allowed = views.filter(isAllowed);
  const [name = allowed[0]?.name] = place.path;
  const view = views.find((one) => one.name === name);
  const needsToken = authentication !== undefined && token === undefined;
  return (
    <SessionContext.Provider value={session}>
      <Header title={title} views={needsToken ? [] : allowed} current={name}>
        {token !== undefined && (
          <button type="button" onClick={() => changeToken(undefined)}>
            Forget token
          </button>
        )}
      </Header>
      <main>
        {needsToken ? (
          <TokenForm rejection={rejection} onToken={changeToken} />
        ) : !view ? (
          <NothingHere />
        ) : !isAllowed(view) ? (
          <NotAllowed view={view} />
        ) : (
          <view.component key={view.name} place={place} visit={visit} />
        )}
      </main>
    </SessionContext.Provider>
  );
}

interface HeaderProps {
  title: string;
  views: View[];
  current: string | undefined;
  children: ComponentChildren;
}

const Header = ({ title, views, current, children }: HeaderProps) => (
  <header>
    <p>{title}</p>
    <nav aria-label="Console">
      {views.map(
        ({ name, link }) =>
          link && (
            <a href={`#/${name}`} key={name} aria-current={name === current ? "page" : undefined}>
              {link}
            </a>
          ),
      )}
      <a href="docs">API</a>
      {children}
    </nav>
  </header>
);

export const NothingHere = () => (
  <>
    <Heading>Nothing here</Heading>
    <p>
      This address leads to no page. <a href="#/">Go to the start page.</a>
    </p>
  </>
);

const NotAllowed = ({ view: { title, scopes } }: { view: View }) => (
  <>
    <Heading>{title}</Heading>
    <div class="notice forbidden" role="alert">
      <strong>Your token may not see this page.</strong> It needs the scope {scopes.join(" or ")}.
    </div>
  </>
);

/** The heading of a view, which is the title of the window too. */
export function Heading({ children, title }: { children: ComponentChildren; title?: string }) {
  const text = title ?? String(children);
  useEffect(() => {
    document.title = text;
  }, [text]);
  return <h1 tabIndex={-1}>{children}</h1>;
}

/** Moves the focus to the heading after a change of the place, unless a control that is still there has it. */
function useFocusOnHeading(visit: Visit): void {
  const first = useRef(visit);
  useEffect(() => {
    if (visit === first.current || document.activeElement?.closest("main")) return;
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [visit]);
}

interface TokenFormProps {
  rejection: string;
  onToken: (token: string) => void;
}

/** The service requires a token. It is kept in the memory of this page only. */
function TokenForm({ rejection, onToken }: TokenFormProps) {
  const [problem, setProblem] = useState(rejection);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const token = String(form.get("token"))
      .trim()
      .replace(/^bearer\s+/i, "");
    if (claimsOf(token) === undefined) setProblem("this is not a JWT");
    else onToken(token);
  };
  return (
    <>
      <Heading>Access token</Heading>
      <p>
        This service requires an access token. It stays in the memory of this page and is gone after a reload.
      </p>
      <form onSubmit={submit} class="token">
        <label>
          Token
          <textarea name="token" required rows={6} autoComplete="off" spellcheck={false} />
        </label>
        {problem && (
          <p class="notice failed" role="alert">
            The token was not accepted: {problem}.
          </p>
        )}
        <button type="submit">Use token</button>
      </form>
    </>
  );
}
