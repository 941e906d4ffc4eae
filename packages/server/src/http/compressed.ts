import { promisify } from "node:util";
import { gzip } from "node:zlib";

const compress = promisify(gzip);
const WORTH_IT = 1_000;

/** JSON, compressed if it is long and the caller accepts that. */
export async function jsonResponse(
  request: Request,
  value: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const text = JSON.stringify(value);
  const type = { "content-type": "application/json", vary: "accept-encoding" };
  const accepts = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(request.headers.get("accept-encoding") ?? "");
  if (text.length < WORTH_IT || !accepts) return new Response(text, { headers: { ...type, ...headers } });
  const bytes = await compress(text, { level: 4 });
  return new Response(bytes, { headers: { ...type, ...headers, "content-encoding": "gzip" } });
}
