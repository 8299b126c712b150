import { effectiveMaxima } from "../../../generated/ledger.maxima.ts";
import type { components, operations } from "../../../generated/ledger.ts";
import { StatementTimeout } from "../../database/database.ts";
import { failure } from "../../http/failure.ts";
import type { Handlers } from "../../http/handlers.ts";
import { overloaded } from "../../http/http-error.ts";
import type { Currency } from "../../values/currency.ts";
import { parseExactly } from "../../values/exact-json.ts";
import { openLane } from "../../waiting/lane.ts";
import { shareOf } from "../../waiting/owner.ts";
import { shared } from "../../waiting/shared.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import { messageBytesMax, messageIn, type ParsedMessage } from "../intake/message.ts";
import { planOf } from "../intake/replay.ts";
import { type Backlog, type Publications, readMaxMs } from "../requests/backlog.ts";
import type { Cursors } from "../requests/cursor.ts";
import { unknownCursor } from "../requests/failures.ts";
import type { Reader } from "../requests/lanes.ts";
import { type DeadLetterRow, findDeadLetter, newestDeadLetters } from "../tables/dead-letter.ts";
import { freshnessSince } from "../tables/freshness-minute.ts";
import { intakeMinutesSince } from "../tables/intake-minute.ts";
import { viewDeadLetter, viewFreshness, viewIntakeMinute } from "../views/intake.ts";
import { viewNextPage } from "../views/links.ts";
import { viewMaskedFault, viewMaskedMessage } from "../views/masked-message.ts";
import { viewPublication } from "../views/publication.ts";

type Schemas = components["schemas"];

const minuteMs = 60_000;
/** The present minute and the 60 before it are shown. */
const minutesBefore = 60;

/**
 * A greater `display_size` counts as this. The bodies of dead letters are not read, and the other texts are short: a page has
 * less than 2 MiB.
 */
const { display_size: displaySizeMax } = effectiveMaxima.listDeadLetters;
const newest = 2n ** 63n - 1n;

/** Maximum number of requests for a dead letter that wait. */
const waitingMax = 100;

/**
 * The intake for operators. These operations name no account: their scope alone decides who may call them. `publications` are
 * the targets to which this process publishes, if there are any.
 */
export function intakeHandlers(
  { sql, lanes, connections, limitMs }: Reader,
  cursors: Cursors,
  backlog: Backlog,
  publications: Publications | undefined,
  currency: Currency,
) {
  const queueTimeout = new Error(`no response within ${readMaxMs} ms`);
  const readIntake = shared(async (): Promise<Schemas["IntakeReport"]> => {
    const minuteBefore = (count: number) =>
      new Date((Math.floor(Date.now() / minuteMs) - count) * minuteMs).toISOString();
    const [messages_waiting, open_dead_letters, minutes, freshness, published] = await Promise.all([
      withTimeout(backlog.messagesWaiting(), readMaxMs, queueTimeout).catch(() => null),
      backlog.openDeadLetters(),
      intakeMinutesSince(sql, minuteBefore(minutesBefore)),
      freshnessSince(sql, minuteBefore(1)),
      publications?.().catch(() => undefined),
    ]);
    return {
      messages_waiting,
      open_dead_letters,
      minutes: minutes.map(viewIntakeMinute),
      freshness: viewFreshness(freshness),
      ...(published && { publishing: published.map(viewPublication) }),
    };
  });
  const lane = openLane({
    // Each dead letter takes several times the memory of its message.
    runningMax: shareOf(connections),
    waitingMax,
    limitMs,
    timeout: new StatementTimeout(limitMs),
    busy: overloaded("too many requests for dead letters are in flight; try again later"),
  });

  return {
    async getIntake() {
      return { status: 200, body: await readIntake() };
    },

    async listDeadLetters({ query, url, owner }) {
      const position = cursors.deadLetter.read(query.cursor);
      if (position === null) return unknownCursor;
      const before = position?.dead_letter_id ?? newest;
      const displaySize = Math.min(query.display_size, displaySizeMax);
      const rows = await newestDeadLetters(lanes(owner), query.state, before, displaySize + 1);
      const dead_letters = rows.slice(0, displaySize).map(viewDeadLetter);
      const last = rows.length > displaySize ? dead_letters.at(-1) : undefined;
      const { links, headers } = viewNextPage(url, query, last && cursors.deadLetter.write(last));
      return { status: 200, headers, body: { dead_letters, _links: links } };
    },

    getDeadLetter: ({ path: { deadLetterId: id }, owner }) =>
      lane.run(owner, async () => {
        const row = await findDeadLetter(lanes(owner), id, messageBytesMax);
        if (!row) return failure(404, `Dead letter with id [${id}] not found`);
        return { status: 200, body: await viewDetail(row, currency) };
      }),
  } satisfies Partial<Handlers<operations>>;
}

/** Each step takes long for a large message, so others get a turn before it. The last step is that of the response. */
async function viewDetail(row: DeadLetterRow, currency: Currency): Promise<Schemas["DeadLetterDetail"]> {
  await letOthersRun();
  const parsed = messageIn(row);
  await letOthersRun();
  const replay = previewOf(row, parsed, currency);
  await letOthersRun();
  const message =
    typeof parsed === "string" ? null : viewMaskedMessage(parseExactly(parsed.text, parsed.value));
  await letOthersRun();
  return { ...viewDeadLetter(row), message, replay };
}

/** What the command `dead-letters` would do. It does not replay a dead letter that was discarded. */
function previewOf(row: DeadLetterRow, parsed: ParsedMessage, currency: Currency): Schemas["ReplayPreview"] {
  if (row.discarded_at !== null) return { outcome: "dead_letter", reason: "it was discarded" };
  const plan = planOf(row, parsed, currency);
  if (plan.outcome !== "dead_letter") return { outcome: plan.outcome };
  // No remedy removes a member: a message can have any.
  const value = typeof parsed === "string" ? undefined : parsed.value;
  const errors = plan.faults.map((fault) => viewMaskedFault(fault, value)) as Schemas["Fault"][];
  return { outcome: plan.outcome, reason: plan.reason, ...(errors.length > 0 && { errors }) };
}
