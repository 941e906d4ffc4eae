import type { SessionFace } from "./remote-session.ts";

/** The codes with which any request to a server can reject. */
export type RequestErrorCode =
  /** The server has never answered. Later, requests are repeated until it does. */
  | "UNREACHABLE"
  /** The server has another protocol, or is none. */
  | "INVALID_CONFIG"
  | "UNAUTHENTICATED"
  /** The token lacks the role. */
  | "PERMISSION_DENIED"
  | "TOO_LARGE"
  /** Something between client and server, such as a firewall, did not let the request through. */
  | "PROXY_REFUSED"
  | "STORE_FULL"
  /** The client or the session is closed. */
  | "CLOSED"
  | "INTERNAL";

type OfThread = "INVALID_INPUT" | "THREAD_NOT_FOUND";
type OfTurn = OfThread | "UNKNOWN_MODE";
type OfAnswer = OfThread | "NOT_PENDING" | "ALREADY_ANSWERED";

/** The codes with which each method can reject, besides those of any request. */
export interface SessionErrors {
  sendMessage: OfTurn;
  post: OfTurn;
  steer: OfTurn;
  followUp: OfTurn;
  listInbox: OfThread;
  editInput: OfThread | "NOT_PENDING";
  removeInput: OfThread | "NOT_PENDING";
  abort: OfThread;
  resume: OfTurn;
  retry: OfTurn;
  settled: OfThread;
  resultOf: OfThread;
  explainContext: OfThread;
  compact: OfThread | `PROVIDER_${string}`;
  respondToToolSuspension: OfAnswer;
  respondToToolApproval: OfAnswer;
  listModes: never;
  switchMode: OfTurn;
  switchModel: OfThread;
  setPermissionForTool: OfThread;
  setPermissionForCategory: OfThread;
  grantSessionTool: OfThread;
  grantSessionCategory: OfThread;
  setState: OfThread;
  createThread: OfThread | "THREAD_EXISTS";
  selectOrCreateThread: never;
  switchThread: OfThread;
  renameThread: OfThread;
  deleteThread: OfThread;
  cloneThread: OfThread | "THREAD_EXISTS";
  listThreads: "INVALID_INPUT";
  rewind: OfThread;
  diff: OfThread;
  listMessages: OfThread;
  listEvents: OfThread;
  readBlob: OfThread;
  close: never;
}

/** The methods of a session that can reject. */
export type AsyncMethod = {
  [M in keyof SessionFace]: SessionFace[M] extends (...args: never[]) => Promise<unknown> ? M : never;
}[keyof SessionFace];

/** The codes with which a method of a session can reject: `switch (error.code as ErrorCodeOf<"sendMessage">) { … }`. */
export type ErrorCodeOf<M extends AsyncMethod> = SessionErrors[M] | RequestErrorCode;
