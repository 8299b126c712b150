import { type Failure, messagesOf, type RequestFault } from "./failure.ts";

/** The kinds of problems of a contract by name (`x-problems`). */
export type ProblemKinds = Record<string, { status: number; title: string }>;

/** The members that the problem documents of all contracts have (RFC 9457). The kernel adds `request_id`. */
export interface Problem {
  /** The address of the page of the kind, which the kernel makes absolute if it knows the address of the service. */
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: RequestFault[];
}

export const problemJson = "application/problem+json";

/** Makes problem documents of failures. Throws for a status or a kind that the contract does not have. */
export function openProblems(kinds: ProblemKinds) {
  const all = Object.entries(kinds).map(([name, kind]) => ({ name, ...kind }));
  return (failure: Failure): Problem => {
    const { status, details, problem } = failure;
    const kind = all.find((one) => one.status === status && (problem ?? one.name) === one.name);
    if (!kind) throw new Error(`the contract has no problem ${problem ?? ""} with the status ${status}`);
    const errors = details.filter((one) => typeof one !== "string");
    return {
      type: `${problemsPath}${kind.name}`,
      title: kind.title,
      status,
      detail: messagesOf(failure).join("; "),
      ...(errors.length > 0 && { errors }),
    };
  };
}

/** Where the pages of the kinds are. */
export const problemsPath = "/problems/";

/** A body in which a problem document names the request, and its kind by an absolute address if that is known. */
export function completeProblem(type: string, body: unknown, request_id: string, publicUrl = ""): unknown {
  if (type !== problemJson) return body;
  const problem = body as Problem;
  return { ...problem, type: publicUrl + problem.type, request_id };
}
