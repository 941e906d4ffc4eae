import type { DurableEvent, Json, Session } from "@cinch/core";
import { STREAM_ANSWER, type Route, type RouteCall } from "../../routes/route.ts";
import { openThread } from "../open-thread.ts";
import { partResponse } from "../part-response.ts";
import { pagesAfter } from "../turn-events.ts";
import { currentTurn, turnTaking } from "../turn-taking.ts";
import { AguiBody, reachedPlace, resumeAll, runInput } from "./agui-body.ts";
import { mergedAgui, type AguiEvent, type AguiMessage } from "./agui-event.ts";
import { finished, startOfRun } from "./run-fold.ts";
import { newRunState } from "./run-state.ts";
import { aguiMessagesOf, runEvents, type RunEvents } from "./run-turn.ts";

const MESSAGES = 200;

/** The route that `HttpAgent` calls. The thread of a run is the thread. */
export const aguiRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/agui",
    adapter: "ag-ui",
    may: "talk",
    summary: "Accepts the last message, or the answers, of a run, and streams the turn as events of AG-UI.",
    answers: STREAM_ANSWER,
    body: AguiBody,
    hasLargeBody: true,
    handle: ran,
  },
];

async function ran(call: RouteCall): Promise<Response> {
  const body = call.body as AguiBody;
  const { threadId } = body;
  const input = runInput(body);
  await openThread(call, threadId);
  return partResponse(call, {
    threadId,
    begin: async (session) => {
      const { turnId } = session.getDisplayState();
      await resumeAll(session, call);
      if (input) await session.post({ ...input, delivery: "send" });
      const run = { session, body };
      if (body.resume) return (signal) => resumedRun(run, { turnId, signal });
      return (signal) => (input ? newRun(run, { inputId: input.id, signal }) : watchedRun(run, signal));
    },
    failed: (message) => [{ type: "RUN_ERROR", message, code: "STREAM_ENDED" }],
    merged: (last, next) => mergedAgui(last as AguiEvent, next as AguiEvent),
  });
}

interface Run {
  session: Session;
  body: AguiBody;
}

const viewOf = ({ session, body }: Run) => ({
  threadId: body.threadId,
  runId: body.runId,
  messages: body.messages as AguiMessage[],
  title: session.getDisplayState().title,
  values: session.getState() as Record<string, Json>,
});

/** The turn of a new message. */
async function* newRun(run: Run, { inputId, signal }: { inputId: string; signal: AbortSignal }): RunEvents {
  const taking = await turnTaking(run.session, inputId, signal);
  const view = viewOf(run);
  if (taking.turnId !== null)
    return yield* runEvents(run.session, { ...view, turnId: taking.turnId, after: 0, signal });
  const state = newRunState({ ...view, turnId: "" });
  const value = taking.reason;
  yield [...startOfRun(state), { type: "CUSTOM", name: "notice", value }, ...finished(state, { type: "success" })];
}

/** The rest of a turn that the client knows up to its question. */
async function* resumedRun(run: Run, { turnId, signal }: { turnId: string | null; signal: AbortSignal }): RunEvents {
  const place = reachedPlace(run.body) ?? { turnId: turnId ?? "", seq: run.session.getDisplayState().seq };
  yield* runEvents(run.session, { ...viewOf(run), turnId: place.turnId, after: place.seq, signal });
}

/** Without a message and an answer, a client gets the conversation, and the turn that is under way. */
async function* watchedRun(run: Run, signal: AbortSignal): RunEvents {
  const { session, body } = run;
  const turnId = (await currentTurn(session, signal)) ?? "";
  const { seq: after } = session.getDisplayState();
  const shown = await session.listMessages({ limit: MESSAGES });
  const first = shown.find(({ role }) => role === "user");
  const events: DurableEvent[] = [];
  // The start of its turn, and the event that takes it, stand right before it.
  for await (const page of pagesAfter(session, Math.max(0, (first?.seq ?? 0) - 3))) events.push(...page);
  const messages = aguiMessagesOf(
    body.threadId,
    events.filter(({ seq }) => seq <= after),
  );
  yield* runEvents(session, { ...viewOf(run), messages, isSnapshot: true, turnId, after, signal });
}
