import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError } from "../http/http-error.ts";
import type { RequestRecord } from "../observe/request-record.ts";

/**
 * What makes a request mean different things to different readers, such as a proxy and this server; `undefined`: nothing. Node refuses
 * other such requests itself.
 */
export function ambiguityOf({ url = "", httpVersion, headers }: IncomingMessage): string | undefined {
  // Its host would take precedence over the header that is checked.
  if (!url.startsWith("/")) return "The target of a request must be a path, without a host.";
  if (httpVersion === "1.0" && headers["transfer-encoding"] !== undefined)
    return "HTTP/1.0 has no Transfer-Encoding. Send a Content-Length.";
  return undefined;
}

/** Closes the connection: where the next request begins is not certain. */
export async function refuseAmbiguous(response: ServerResponse, problem: string, record: RequestRecord): Promise<void> {
  const answer = record.failed(new HttpError(400, "INVALID_INPUT", problem, { reason: "ambiguous" }));
  const body = await answer.text();
  response.writeHead(400, { connection: "close", "content-type": "application/json", "x-request-id": record.id });
  response.end(body);
  record.answered(400, body.length);
}
