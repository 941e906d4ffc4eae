import type { Session } from "@cinch/core";

/** The seq that the thread had after a command or a query. A client shows the answer when its own display is as new. */
export const SEQ_HEADER = "cinch-seq";

/** An answer about the thread of a session: a value is sent as JSON, and `undefined` is 204. */
export function atSeq(session: Session, answer: unknown): Response {
  const response = responseOf(answer);
  response.headers.set(SEQ_HEADER, String(session.getDisplayState().seq));
  return response;
}

export function responseOf(answer: unknown): Response {
  if (answer instanceof Response) return answer;
  return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
}
