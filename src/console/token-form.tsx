import { useState } from "preact/hooks";
import { Form } from "./form.tsx";
import { Problem } from "./notice.tsx";
import { claimsOf } from "./session.ts";
import { Heading } from "./view.tsx";

/**
 * The service requires a token, which is kept in the memory of this page only. `rejection` says why the service has
 * rejected the token before, if it has.
 */
export function TokenForm({ rejection, onToken }: { rejection?: string; onToken: (token: string) => void }) {
  const [problem, setProblem] = useState(rejection);
  const submit = (fields: FormData) => {
    const token = String(fields.get("token"))
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
      <Form class="token" onSubmit={submit}>
        <label>
          Token
          <textarea name="token" required rows={6} autoComplete="off" spellcheck={false} />
        </label>
        {problem && <Problem>The token was not accepted: {problem}.</Problem>}
        <button type="submit">Use token</button>
      </Form>
    </>
  );
}
