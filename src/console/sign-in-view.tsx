import { useState } from "preact/hooks";
import { Button, Details } from "./elements.tsx";
import { Form } from "./form.tsx";
import { Problem } from "./notice.tsx";
import { claimsOf } from "./session.ts";
import { Heading } from "./view.tsx";

/** Why the reader has no access: sentences, and the reason in other words. */
export interface Reason {
  message: string;
  said?: string | undefined;
}

interface Props {
  /** The host at which the reader signs in. Undefined if the service only takes tokens. */
  host: string | undefined;
  /** True while the reader is signed in. */
  isBusy: boolean;
  reason: Reason | undefined;
  onSignIn: () => void;
  onToken: (token: string) => void;
}

/** The service requires a token, and the page has none yet. */
export function SignInView({ host, isBusy, reason, onSignIn, onToken }: Props) {
  const problem = reason && (
    <Problem>
      {reason.message} {reason.said && <bdi>({reason.said})</bdi>}
    </Problem>
  );
  if (host === undefined)
    return (
      <>
        <Heading>Access token</Heading>
        {problem}
        <TokenForm onToken={onToken} />
      </>
    );
  return (
    <>
      <Heading>Sign in</Heading>
      {isBusy ? (
        <p class="notice loading" role="status">
          Signing in…
        </p>
      ) : (
        <>
          {problem}
          <p>
            You sign in at <bdi>{host}</bdi>, and come back to this page.
          </p>
          <p>
            <Button class="primary" onClick={onSignIn}>
              Sign in
            </Button>
          </p>
          <Details summary="Use a token instead">
            {() => <TokenForm onToken={onToken} buttonClass="second" />}
          </Details>
        </>
      )}
    </>
  );
}

function TokenForm({ onToken, buttonClass }: Pick<Props, "onToken"> & { buttonClass?: string }) {
  const [isWrong, setWrong] = useState(false);
  const submit = (fields: FormData) => {
    const token = String(fields.get("token"))
      .trim()
      .replace(/^bearer\s+/i, "");
    if (claimsOf(token) === undefined) setWrong(true);
    else onToken(token);
  };
  return (
    <Form class="token" onSubmit={submit}>
      <p>Paste an access token. It stays in the memory of this page and is gone after a reload.</p>
      <label>
        Token
        <textarea name="token" required rows={6} autoComplete="off" spellcheck={false} />
      </label>
      {isWrong && <Problem>This is no access token. Copy the whole token, which has two dots.</Problem>}
      <p>
        <button type="submit" class={buttonClass}>
          Use token
        </button>
      </p>
    </Form>
  );
}
