import {
  isForeign,
  type AgentRecord,
  type DurableEvent,
  type EndReason,
  type ListedAgent,
  type SourceVersion,
} from "../events/event-map.ts";
import type { Message, Usage } from "../events/message.ts";
import { addUsage, noUsage } from "../events/usage.ts";
import { CallsDraft } from "./call.ts";
import { newContext, reduceContext, type ContextState } from "./context.ts";
import { newControl, reduceControl, type Control } from "./control.ts";
import { noFiles, reduceFiles, type FilesState } from "./files.ts";
import { reduceGiven, type KnownCommand } from "./given-commands.ts";
import { reduceOutlived, type OutlivedTurns } from "./outlived-turns.ts";
import { newProgress, reduceProgress, type Progress } from "./progress.ts";
import { noRuns, reduceRuns, type Runs } from "./runs.ts";
import { emptyTrie, type Trie } from "./trie.ts";
import { workAfter, type Turn } from "./turn-work.ts";

export type { Turn };

/** How a turn ended. */
export interface Ended {
  turnId: string;
  reason: EndReason;
  /** Which limit was reached. */
  detail: string | null;
  /** With `error`: what failed. */
  error: Progress["lastError"];
  /** The model's last complete answer, and why the model stopped; `null` and "" if there is none. */
  message: Message | null;
  finishReason: string;
  inputIds: Trie<true>;
  usage: Usage;
  /** In dollars; `null` if the price of an answer is unknown. */
  cost: number | null;
  /** How long drivers were at work on it. */
  durationMs: number;
}

/** The state that a driver decides from. It is folded from the journal alone, so that every process makes the same decision. */
export interface ThreadState extends Progress {
  seq: number;
  turn: Turn | null;
  /** How the last turn ended. */
  ended: Ended | null;
  resourceId: string;
  /** Set in the thread of a subagent. */
  agent: AgentRecord | null;
  runs: Runs;
  outlived: OutlivedTurns;
  /** How many drivers have died since the thread last made progress: a `message_end` or a `tool_end`. */
  takeovers: number;
  /** The newest input ids that callers chose, of this thread. `findInput` of the store finds older ones. */
  named: readonly string[];
  /** The newest event with which the thread was cloned or rewound. `named` has no id from before it. */
  cutSeq: number;
  /** The newest commands that callers gave an id. */
  given: readonly KnownCommand[];
  control: Control;
  context: ContextState;
  files: FilesState;
  head: PromptHead | null;
  /** The first event that a newer release wrote. This release must not drive the thread. */
  foreign: { type: string; v: number; seq: number } | null;
}

/** The newest head of the prompt. */
export interface PromptHead {
  blob: string;
  key: string;
  agentName: string;
  modelId: string;
  /** A hash of what the model's profile changes in a head, as the prompt has it: in the head, or in a later note. */
  profile: string;
  /** The context sources as the prompt has them: in the head, or in a later note. */
  sources: Readonly<Record<string, SourceVersion>>;
  /** A note says that a source has changed. */
  hasNewSources: boolean;
  /** The profile in the head itself. */
  profileOfHead: string;
  /** The newest note that says what the profile changes. 0: there is none, or a later one says that none is in force. */
  profileNoteSeq: number;
  /** The prompt has been compacted since such a note: the next head has the new text. */
  isOutdated: boolean;
  /** `null`: the agent can't delegate. */
  subagents: readonly ListedAgent[] | null;
}

export const NAMED_KEPT = 100;

export const newThreadState: ThreadState = {
  ...newProgress,
  seq: 0,
  turn: null,
  ended: null,
  resourceId: "",
  agent: null,
  runs: noRuns,
  outlived: emptyTrie,
  takeovers: 0,
  named: [],
  cutSeq: 0,
  given: [],
  control: newControl,
  context: newContext,
  files: noFiles,
  head: null,
  foreign: null,
};

/** Gives the same result as folding one event at a time, but copies the calls of a turn only once. */
export function reduceThreadAll(before: ThreadState, events: readonly DurableEvent[]): ThreadState {
  const draft = new CallsDraft();
  return events.reduce((state, event) => reduceOne(state, event, draft), before);
}

export function reduceThread(before: ThreadState, event: DurableEvent): ThreadState {
  return reduceOne(before, event, new CallsDraft());
}

function reduceOne(before: ThreadState, event: DurableEvent, draft: CallsDraft): ThreadState {
  const { type, v, seq } = event;
  if (isForeign(event)) return { ...before, seq, foreign: before.foreign ?? { type, v, seq } };
  const work = workAfter(before.turn, event, before.runs);
  const progress = reduceProgress(before, event, draft);
  const turn = progress.turn && work(progress.turn);
  const worked = workedMs(before.turn, turn);
  const runs = reduceRuns(before.runs, event);
  // `progress` is `before`, or a copy with all its fields. The copy is changed in place: a second one would cost more than most folds.
  const state = (progress === before ? { ...before } : progress) as ThreadState;
  state.turn = turn;
  state.ended = endedAfter(before, event);
  if (worked !== 0) state.spent = { ...state.spent, ms: state.spent.ms + worked };
  state.seq = seq;
  state.takeovers = takeoversAfter(before, event);
  state.given = reduceGiven(before.given, event);
  state.control = reduceControl(before.control, event);
  state.context = reduceContext(before.context, event);
  state.files = reduceFiles(before.files, event);
  state.runs = runs;
  state.outlived = reduceOutlived(before, event, runs);
  switch (event.type) {
    case "thread_created":
      return { ...state, resourceId: event.resourceId, agent: event.agent ?? null };
    // What the cut leaves may be the beginning of another thread: with another agent, and with the ids of its inputs.
    case "thread_cloned":
    case "thread_rewound":
      return { ...state, named: [], cutSeq: seq, agent: event.agent ?? null };
    case "input_accepted":
      return event.named ? { ...state, named: [...state.named, event.inputId].slice(-NAMED_KEPT) } : state;
    case "prompt_head": {
      const { blob, key, agentName = "", modelId = "", profile = "", subagents = null, sources = {} } = event;
      const recorded = { blob, key, agentName, modelId, profile, profileOfHead: profile, subagents, sources };
      const profileNoteSeq = profileNoteIn(state);
      return { ...state, head: { ...recorded, profileNoteSeq, hasNewSources: false, isOutdated: false } };
    }
    case "message_end": {
      const head = state.head && withNote(state.head, event);
      return head === state.head ? state : { ...state, head };
    }
    case "om_activation":
    case "context_summarised":
      return event.range && state.head && hasNews(state.head)
        ? { ...state, head: { ...state.head, isOutdated: true } }
        : state;
    default:
      return state;
  }
}

export const hasNewProfile = ({ profile, profileOfHead }: PromptHead): boolean => profile !== profileOfHead;

/** Whether notes say something else than the head. */
const hasNews = (head: PromptHead): boolean => head.hasNewSources || hasNewProfile(head);

/** The note about the profile that the prompt still has. 0: none. */
export function profileNoteIn({ head, context }: ThreadState): number {
  const seq = head?.profileNoteSeq ?? 0;
  return seq > context.memory.coveredSeq ? seq : 0;
}

function withNote(head: PromptHead, { source, profile, seq }: DurableEvent<"message_end">): PromptHead {
  if (profile !== undefined) return { ...head, profile, profileNoteSeq: profile === head.profileOfHead ? 0 : seq };
  if (!source) return head;
  const { name, version } = source;
  return { ...head, sources: { ...head.sources, [name]: { version, tokens: 0 } }, hasNewSources: true };
}

/** How long a driver worked on the turn since the previous event. */
const workedMs = (before: Turn | null, now: Turn | null): number =>
  before && now && before.turnId === now.turnId ? now.watch.ms - before.watch.ms : 0;

/** How the last turn has ended after an event. */
export function endedAfter(
  { turn, ended, lastError }: Pick<ThreadState, "turn" | "ended" | "lastError">,
  event: DurableEvent,
): Ended | null {
  switch (event.type) {
    case "thread_cloned":
    case "thread_rewound":
      return null;
    case "agent_end": {
      const { turnId = "", reason, detail = null } = event;
      const { message = null, finishReason = "", inputIds = emptyTrie } = turn ?? {};
      const { total: usage = noUsage, unpriced = false, cost = 0, watch = { ms: 0 } } = turn ?? {};
      const used = { usage, cost: unpriced ? null : cost, durationMs: watch.ms };
      const error = reason === "error" ? lastError : null;
      return { turnId, reason, detail, error, message, finishReason, inputIds, ...used };
    }
    // A run in the background that ends after its turn still counts for it.
    case "subagent_end":
      if (!ended || ended.turnId !== event.turnId) return ended;
      return {
        ...ended,
        usage: addUsage(ended.usage, event.usage),
        cost: ended.cost === null || event.cost === null ? null : ended.cost + event.cost,
      };
    default:
      return ended;
  }
}

function takeoversAfter({ turn, takeovers }: ThreadState, event: DurableEvent): number {
  switch (event.type) {
    case "agent_start":
      return event.takeover ? takeovers + 1 : takeovers;
    case "message_end":
      return turn && event.message.role === "assistant" && !event.interrupted ? 0 : takeovers;
    case "tool_end":
      return turn ? 0 : takeovers;
    case "agent_end":
    case "thread_cloned":
    case "thread_rewound":
      return 0;
    default:
      return takeovers;
  }
}
