import { isForeign, type DurableEvent } from "../events/event-map.ts";
import { CallsDraft } from "./call.ts";
import { newControl, reduceControl, type Control } from "./control.ts";
import { noFiles, reduceFiles, type FilesState } from "./files.ts";
import { newProgress, reduceProgress, type Progress } from "./progress.ts";

/** What a driver decides from. Folded from the journal alone, so that every process decides alike. */
export interface ThreadState extends Progress {
  seq: number;
  resourceId: string;
  /** Drivers that died since the thread last made progress: a `message_end` or a `tool_end`. */
  takeovers: number;
  /** The newest ids that callers chose for inputs. The store finds the others. */
  named: readonly string[];
  control: Control;
  files: FilesState;
  head: { blob: string; key: string; agentName: string; modelId: string } | null;
  /** The first event that a newer release wrote: this one must not drive past it. */
  foreign: { type: string; v: number; seq: number } | null;
}

export const NAMED_KEPT = 100;

export const newThreadState: ThreadState = {
  ...newProgress,
  seq: 0,
  resourceId: "",
  takeovers: 0,
  named: [],
  control: newControl,
  files: noFiles,
  head: null,
  foreign: null,
};

/** Gives the same as one event after the other. The calls of a turn are copied once, since no caller sees the states in between. */
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
  const state = {
    ...reduceProgress(before, event, draft),
    seq,
    takeovers: takeoversAfter(before, event),
    control: reduceControl(before.control, event),
    files: reduceFiles(before.files, event),
  };
  switch (event.type) {
    case "thread_created":
      return { ...state, resourceId: event.resourceId };
    case "thread_cloned":
      return { ...state, named: [] };
    case "input_accepted":
      return event.named ? { ...state, named: [...state.named, event.inputId].slice(-NAMED_KEPT) } : state;
    case "prompt_head": {
      const { blob, key, agentName = "", modelId = "" } = event;
      return { ...state, head: { blob, key, agentName, modelId } };
    }
    default:
      return state;
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
