import type { DurableEvent, HarnessEvent, Session } from "@cinch/core";
import * as z from "zod/mini";
import { briefEvent } from "../../brief/brief-event.ts";
import { jsonResponse } from "../../http/compressed.ts";
import { LongWork } from "../../routes/long-work.ts";
import { EMPTY_ANSWER, STREAM_ANSWER, type Route, type RouteCall } from "../../routes/route.ts";
import { NoBody } from "../../routes/wire-schemas.ts";
import { partResponse } from "../part-response.ts";
import { isMissing, openThread } from "../open-thread.ts";
import { pagesAfter } from "../turn-events.ts";
import { currentTurn, turnTaking } from "../turn-taking.ts";
import { acceptInput, answerAll } from "./chat-commands.ts";
import { ChatBody, cursorOf, endOfChat, inputOf, shownCallsIn, turnMessage } from "./chat-body.ts";
import { turnChunks } from "./chat-turn.ts";
import { mergedChunk, type SdkVersion, type UiChunk } from "./ui-chunk.ts";
import { uiMessagesOf } from "./ui-message.ts";

const VersionQuery = z.strictObject({ v: z.optional(z.enum(["6", "7"])) });
const MESSAGES = 200;

/** The routes that `useChat` calls. The id of a chat is that of its thread. */
export const chatRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/chat",
    adapter: "ai-sdk",
    may: "talk",
    summary: "Accepts the last message, or the answers, of a chat, and streams the turn as UI message chunks.",
    answers: STREAM_ANSWER,
    query: VersionQuery,
    body: ChatBody,
    hasLargeBody: true,
    readOf: endOfChat,
    handle: posted,
  },
  {
    method: "GET",
    path: "/v1/chat/:threadId/stream",
    adapter: "ai-sdk",
    may: "read",
    summary: "The whole turn that is under way, and what follows. 204: there is none.",
    answers: { ...STREAM_ANSWER, ...EMPTY_ANSWER },
    query: VersionQuery,
    handle: resumed,
  },
  {
    method: "GET",
    path: "/v1/chat/:threadId/messages",
    adapter: "ai-sdk",
    may: "read",
    summary: "The newest messages of a chat, as `useChat` begins with them.",
    query: VersionQuery,
    handle: listed,
  },
  {
    method: "POST",
    path: "/v1/chat/:threadId/stop",
    adapter: "ai-sdk",
    may: "talk",
    summary: "Ends the turn. `stop()` of a client only ends its own stream.",
    body: NoBody,
    waits: true,
    handle: ({ params, who, parts }) =>
      parts.seats.use(params["threadId"]!, who, (session) => new LongWork(session.abort())),
  },
];

const versionOf = ({ query }: RouteCall): SdkVersion => (query["v"] === "7" ? 7 : 6);
const viewOf = (call: RouteCall, threadId: string) => ({ version: versionOf(call), threadId, prefix: call.prefix });

async function posted(call: RouteCall): Promise<Response> {
  const body = call.body as ChatBody;
  // Throws for a message that can't be understood.
  inputOf(body);
  await openThread(call, body.id);
  return streamed(call, body.id, async (session) => {
    const { turnId } = session.getDisplayState();
    await answerAll(session, call);
    const inputId = await acceptInput(session, call);
    return (signal) =>
      inputId === undefined || isForAnswer(body)
        ? continued(session, { call, turnId, signal })
        : begun(session, { call, inputId, signal });
  });
}

async function resumed(call: RouteCall): Promise<Response> {
  const threadId = call.params["threadId"]!;
  try {
    return await streamed(call, threadId, async (session) => {
      const turnId = await currentTurn(session, call.request.signal);
      if (turnId === null) return null;
      const view = viewOf(call, threadId);
      return (signal) => turnChunks(session, { ...view, turnId, after: 0, shownCalls: {}, signal });
    });
  } catch (error) {
    if (isMissing(error)) return new Response(null, { status: 204 });
    throw error;
  }
}

type Chunks = AsyncGenerator<readonly UiChunk[], void, undefined>;

const streamed = (
  call: RouteCall,
  threadId: string,
  begin: (session: Session) => Promise<((signal: AbortSignal) => Chunks) | null>,
): Promise<Response> =>
  partResponse(call, {
    threadId,
    begin,
    failed: (errorText) => [{ type: "error", errorText }],
    merged: (last, next) => mergedChunk(last as UiChunk, next as UiChunk),
    trailer: "data: [DONE]\n\n",
    headers: { "x-vercel-ai-ui-message-stream": "v1" },
  });

/** The turn of a new message. */
async function* begun(
  session: Session,
  { call, inputId, signal }: { call: RouteCall; inputId: string; signal: AbortSignal },
): Chunks {
  const taking = await turnTaking(session, inputId, signal);
  const threadId = (call.body as ChatBody).id;
  const view = viewOf(call, threadId);
  if (taking.turnId !== null)
    return yield* turnChunks(session, { ...view, turnId: taking.turnId, after: 0, shownCalls: {}, signal });
  yield [{ type: "data-notice", data: { message: taking.reason }, transient: true }];
}

/** The client shows the response in a message of the assistant that it names. */
const isForAnswer = ({ messages, messageId }: ChatBody): boolean =>
  messages.some(({ id, role }) => role === "assistant" && id === messageId);

/** The rest of a turn that the client knows up to its question. */
async function* continued(
  session: Session,
  { call, turnId, signal }: { call: RouteCall; turnId: string | null; signal: AbortSignal },
): Chunks {
  const body = call.body as ChatBody;
  const named = turnMessage(body, body.messageId ?? turnId ?? "");
  const message = named ?? body.messages.at(-1);
  const after = cursorOf(message) ?? session.getDisplayState().seq;
  const view = { ...viewOf(call, body.id), turnId: message?.id ?? turnId ?? "" };
  yield* turnChunks(session, { ...view, after, shownCalls: shownCallsIn(message), signal });
}

function listed(call: RouteCall): Promise<unknown> {
  const threadId = call.params["threadId"]!;
  const answer = async (session: Session) => {
    const shown = await session.listMessages({ limit: MESSAGES });
    const first = shown.find(({ role }) => role === "user");
    // The start of its turn, and the event that takes it, stand right before it.
    const after = first ? Math.max(0, first.seq - 3) : 0;
    const events: DurableEvent[] = [];
    for await (const page of pagesAfter(session, after)) events.push(...page);
    const brief = events.map((event) => briefEvent(event as HarnessEvent) as DurableEvent);
    return jsonResponse(call.request, uiMessagesOf(brief, viewOf(call, threadId)));
  };
  return call.parts.seats.use(threadId, call.who, answer).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}
