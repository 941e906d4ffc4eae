import type { HarnessDisplayState } from "../folds/display-state.ts";
import type { Json } from "../events/message.ts";

/** What of the platform is used here, where there is such a thing. */
interface Host {
  on(event: "beforeExit", listener: () => void): unknown;
  stderr?: { write(text: string): unknown };
}

type Unanswered = () => readonly string[];

const sources = new Set<Unanswered>();
const told = new Set<string>();
let isListening = false;

/** Has the process say on stderr what still waits for an answer, when it has nothing left to do. Returns how to stop that. */
export function tellAtExit(unanswered: Unanswered): () => void {
  const { process } = globalThis as { process?: Host };
  if (typeof process?.on !== "function") return () => undefined;
  sources.add(unanswered);
  // One listener for all: platforms warn of many.
  if (!isListening) process.on("beforeExit", () => tell(process));
  isListening = true;
  return () => void sources.delete(unanswered);
}

/** What was told may keep the process alive for a moment: then it comes here again. */
function tell({ stderr }: Host): void {
  for (const line of Array.from(sources).flatMap((unanswered) => unanswered())) {
    if (!told.has(line)) stderr?.write(`${line}\n`);
    told.add(line);
  }
}

const ARGS_CHARS = 200;

/** The calls of a thread that wait, and how to answer each. */
export function unansweredIn({ threadId, pendingApprovals, pendingSuspensions }: HarnessDisplayState): string[] {
  const approvals = Object.values(pendingApprovals).map(({ toolCallId, toolName, args }) => {
    const answer = `respondToToolApproval({ ${idsOf(threadId, toolCallId)}, decision: "approve" })`;
    return `${described(toolName, args)} waits for an approval. Answer with ${answer}`;
  });
  const suspensions = Object.values(pendingSuspensions).map(({ toolCallId, toolName, args }) => {
    const answer = `respondToToolSuspension({ ${idsOf(threadId, toolCallId)}, resumeData: … })`;
    return `${described(toolName, args)} waits for an answer. Give it with ${answer}`;
  });
  return [...approvals, ...suspensions].map(
    (what) => `cinch: this process ends while a call waits: ${what} from any process on the same store.`,
  );
}

const idsOf = (threadId: string | null, toolCallId: string): string =>
  `threadId: ${JSON.stringify(threadId)}, toolCallId: ${JSON.stringify(toolCallId)}`;

function described(toolName: string, args: Json): string {
  const text = JSON.stringify(args);
  return `${toolName}(${text.length > ARGS_CHARS ? `${text.slice(0, ARGS_CHARS)}…` : text})`;
}
