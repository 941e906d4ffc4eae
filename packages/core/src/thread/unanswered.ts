import type { HarnessDisplayState } from "../folds/display-state.ts";
import type { Json } from "../events/message.ts";

/** The part of Node's `process` that is used here. In a browser there is none. */
interface Host {
  on(event: "beforeExit", listener: () => void): unknown;
  stderr?: { write(text: string): unknown };
}

type Unanswered = () => readonly string[];

const sources = new Set<Unanswered>();
const printed = new Set<string>();
let isListening = false;

/** Before the process exits because it has nothing left to do, prints on stderr which calls wait. Returns a function that cancels this. */
export function printAtExit(unanswered: Unanswered): () => void {
  const { process } = globalThis as { process?: Host };
  if (typeof process?.on !== "function") return () => undefined;
  sources.add(unanswered);
  // One listener for all harnesses: Node warns about many.
  if (!isListening) process.on("beforeExit", () => printUnanswered(process));
  isListening = true;
  return () => void sources.delete(unanswered);
}

/** Prints each line once: `beforeExit` is emitted again if the output kept the process alive. */
function printUnanswered({ stderr }: Host): void {
  for (const line of Array.from(sources).flatMap((unanswered) => unanswered())) {
    if (!printed.has(line)) stderr?.write(`${line}\n`);
    printed.add(line);
  }
}

const ARGS_CHARS = 200;

/** The calls of a thread that wait, and how to answer each. */
export function unansweredIn({ pendingApprovals, pendingSuspensions }: HarnessDisplayState): string[] {
  const approvals = Object.values(pendingApprovals).map(({ threadId, toolCallId, toolName, args }) => {
    const answer = `respondToToolApproval({ ${idsOf(threadId, toolCallId)}, decision: "approve" })`;
    return `${described(toolName, args)} waits for an approval. Answer with ${answer}`;
  });
  const suspensions = Object.values(pendingSuspensions).map(({ threadId, toolCallId, toolName, args }) => {
    const answer = `respondToToolSuspension({ ${idsOf(threadId, toolCallId)}, resumeData: … })`;
    return `${described(toolName, args)} waits for an answer. Give it with ${answer}`;
  });
  return [...approvals, ...suspensions].map(
    (what) => `cinch: this process ends while a call waits: ${what} from any process on the same store.`,
  );
}

const idsOf = (threadId: string, toolCallId: string): string =>
  `threadId: ${JSON.stringify(threadId)}, toolCallId: ${JSON.stringify(toolCallId)}`;

function described(toolName: string, args: Json): string {
  const text = JSON.stringify(args);
  return `${toolName}(${text.length > ARGS_CHARS ? `${text.slice(0, ARGS_CHARS)}…` : text})`;
}
