import type { Session } from "@cinch/core";
import { randomId } from "./random-id.ts";
import { boundAnswer } from "./answer-binding.ts";
import type { RemoteSeat, ThreadRequest } from "./remote-seat.ts";
import { objectOf, wireInput } from "./wire-input.ts";

/** Sends a method of a session to the route of its name. The types of its options and of its result are those of `Session`. */
type Send = (seat: RemoteSeat, name: string, options: never) => Promise<unknown>;

/** The key is the same for each try, so that the server does it once. */
const commandOf = (body: unknown = {}): ThreadRequest => ({ method: "POST", body, key: randomId("call") });

const command = (seat: RemoteSeat, name: string, options?: unknown) => seat.ask(name, commandOf(options));

const query = async (seat: RemoteSeat, name: string, options: object = {}) =>
  seat.read(name, { query: { ...objectOf(options) } });

/** The server begins it in the order of commands, and the answer comes when it is done. */
const work = (seat: RemoteSeat, name: string, options?: unknown) =>
  seat.ask(name, { ...commandOf(options), query: { wait: 0 } });

const wait = async (seat: RemoteSeat, name: string, options: { signal?: AbortSignal } = {}) => {
  const { signal, ...rest } = objectOf(options);
  return seat.ask(name, { query: { ...rest, wait: 0 }, signal });
};

const input = async (seat: RemoteSeat, name: string, given: Parameters<Session["post"]>[0]) => {
  const { inputId, body } = wireInput(given);
  await seat.ask(name, { method: "POST", body });
  return { inputId };
};

/** For a method without options: what it is called with, such as the event of a button, is not sent. */
const bare = (send: (seat: RemoteSeat, name: string) => Promise<unknown>) => (seat: RemoteSeat, name: string) =>
  send(seat, name);

/** The methods of a session that are one request about its thread, and how each is sent. */
export const THREAD_REQUESTS = {
  post: input,
  steer: input,
  followUp: input,
  listInbox: bare(query),
  editInput: command,
  removeInput: command,
  abort: work,
  resume: bare(command),
  retry: bare(work),
  compact: work,
  settled: wait,
  resultOf: wait,
  explainContext: bare(query),
  respondToToolSuspension: boundAnswer("pendingSuspensions", command),
  respondToToolApproval: boundAnswer("pendingApprovals", command),
  switchMode: command,
  switchModel: command,
  setPermissionForTool: command,
  setPermissionForCategory: command,
  grantSessionTool: command,
  grantSessionCategory: command,
  setState: command,
  renameThread: command,
  rewind: command,
  diff: query,
  listMessages: query,
  listEvents: query,
} satisfies Partial<Record<keyof Session, Send>>;
