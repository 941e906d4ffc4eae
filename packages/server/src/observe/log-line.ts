/** One line of the log. It has neither texts nor tokens, and of the ids that callers choose only that of the thread. */
export interface LogLine {
  time: string;
  /** `error`: the server failed. */
  level: "info" | "error";
  /** `request`: an answer. A stream has two lines. */
  event: "request" | "stream_start" | "stream_end";
  /** The answer has it too, as the header `x-request-id`. */
  requestId: string;
  method: string;
  /** As the OpenAPI document writes it: `/v1/threads/{threadId}`. `null`: no route matches. */
  route: string | null;
  status: number;
  /** Since the request arrived. */
  ms: number;
  /** Of the body, as it was sent. */
  bytes: number;
  by?: string;
  threadId?: string;
  /** Why the request was refused. */
  refused?: string;
  /** What failed, without its message: that may hold anything. */
  cause?: { name: string; code?: string };
}

/** `cause` is the error of a line that has one: for a program that keeps errors in a safe place. */
export type WriteLog = (line: LogLine, cause?: unknown) => void;

/** What a program gets that gave no `log`. */
export const printFailures: WriteLog = (line) => {
  if (line.level === "error") console.error(JSON.stringify(line));
};
