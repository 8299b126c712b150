import { type ComponentChildren, type ComponentType, render } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Place } from "./fragment.ts";
import { forgetValues, usePlace, VisitContext } from "./history.ts";
import { Notice } from "./notice.tsx";
import { type Authentication, type Session, SessionContext, sessionOf } from "./session.ts";
import { TokenForm } from "./token-form.tsx";
import { Heading, NothingHere, useFocusOnHeading } from "./view.tsx";

/** A view of the console. */
interface View {
  /** The first segment of its path; empty for the start page. */
  name: string;
  title: string;
  /** True if the navigation has a link to it. */
  isLinked?: boolean;
  /** A token needs one of these scopes to see the view. */
  scopes: string[];
  component: ComponentType<Place>;
}

interface ConsoleProps {
  /** The name of the service. */
  title: string;
  views: View[];
  authentication: Authentication | undefined;
}

/** Renders the console of a service into its page. */
export function openConsole(title: string, views: View[]): void {
  const root = document.querySelector("#console") as HTMLElement;
  const { authentication } = root.dataset;
  root.replaceChildren();
  render(
    <Console title={title} views={views} authentication={authentication && JSON.parse(authentication)} />,
    root,
  );
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
          <VisitContext.Provider value={visit}>
            <view.component key={view.name} {...place} />
          </VisitContext.Provider>
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
        ({ name, title, isLinked }) =>
          isLinked && (
            <a href={`#/${name}`} key={name} aria-current={name === current ? "page" : undefined}>
              {title}
            </a>
          ),
      )}
      <a href="docs">API</a>
      {children}
    </nav>
  </header>
);

const NotAllowed = ({ view: { title, scopes } }: { view: View }) => (
  <>
    <Heading>{title}</Heading>
    <Notice kind="forbidden" title="Your token may not see this page">
      It needs the scope {scopes.join(" or ")}.
    </Notice>
  </>
);
