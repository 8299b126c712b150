import { type ComponentType, render } from "preact";
import { useAccess } from "./access.tsx";
import { Button } from "./elements.tsx";
import { showCurrency } from "./format.ts";
import { fragmentOf, type Parameters, type Place } from "./fragment.ts";
import { usePlace, VisitContext } from "./history.ts";
import { NotAllowed } from "./notice.tsx";
import { type Authentication, SessionContext } from "./session.ts";
import { NothingHere, service, useFocusOnHeading, useSearchKey } from "./view.tsx";

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

/** Renders the console of a service into its page. The navigation keeps parameters of the address. */
export function openConsole(views: View[], keptParameters: () => Parameters = () => ({})): void {
  const root = document.querySelector("#console") as HTMLElement;
  const { authentication, currency } = root.dataset;
  if (currency) showCurrency(JSON.parse(currency));
  root.replaceChildren();
  render(
    <Console
      views={views}
      keptParameters={keptParameters}
      authentication={authentication && JSON.parse(authentication)}
    />,
    root,
  );
}

interface ConsoleProps {
  views: View[];
  keptParameters: () => Parameters;
  authentication: Authentication | undefined;
}

function Console({ views, keptParameters, authentication }: ConsoleProps) {
  const { session, gate, signOut } = useAccess(authentication);
  const { place, visit } = usePlace();
  useFocusOnHeading(visit);
  useSearchKey();
  const isAllowed = ({ scopes }: View) => scopes.some(session.can);
  const allowed = views.filter(isAllowed);
  const [name = (allowed[0] ?? views[0])?.name] = place.path;
  const view = views.find((one) => one.name === name);
  const linked = gate ? [] : allowed.filter(({ isLinked }) => isLinked);
  return (
    <SessionContext.Provider value={session}>
      <Button class="skip" onClick={() => document.querySelector<HTMLElement>("main h1")?.focus()}>
        Skip to the content
      </Button>
      <header>
        <p>{service}</p>
        <nav aria-label="Console">
          {linked.map((one) => (
            <a
              href={fragmentOf([one.name].filter(Boolean), keptParameters())}
              key={one.name}
              aria-current={one === view ? "page" : undefined}
            >
              {one.title}
            </a>
          ))}
          {signOut && <Button onClick={signOut}>Sign out</Button>}
        </nav>
      </header>
      <main>
        {gate ??
          (!view ? (
            <NothingHere />
          ) : !isAllowed(view) ? (
            <NotAllowed {...view} />
          ) : (
            <VisitContext.Provider value={visit}>
              <view.component key={view.name} {...place} />
            </VisitContext.Provider>
          ))}
      </main>
      <footer>
        <a href="docs">API</a>
      </footer>
    </SessionContext.Provider>
  );
}
