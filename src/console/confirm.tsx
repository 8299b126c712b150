import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./elements.tsx";
import { detailOf } from "./error-words.ts";
import { Problem } from "./notice.tsx";

/** A change that the reader has to confirm. */
export interface Change {
  question: string;
  /** The text of the button that makes the change. */
  action: string;
  isDangerous?: boolean;
  make: () => Promise<unknown>;
}

/** A dialog that makes a change after the reader has confirmed it. */
export function Confirm({ change, onClose }: { change: Change; onClose: (isMade: boolean) => void }) {
  const { question, action, isDangerous, make } = change;
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState("");
  const [isRunning, setRunning] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  async function confirm() {
    setRunning(true);
    try {
      await make();
      onClose(true);
    } catch (error) {
      setProblem(detailOf(error));
      setRunning(false);
    }
  }
  return (
    <dialog ref={dialog} aria-label={question} onClose={() => onClose(false)}>
      <p>{question}</p>
      {problem && <Problem>The change was not made: {problem}</Problem>}
      <p class="pages">
        <Button class={isDangerous ? "danger" : "primary"} onClick={confirm} disabled={isRunning}>
          {action}
        </Button>
        <Button onClick={() => dialog.current?.close()}>Cancel</Button>
      </p>
    </dialog>
  );
}
