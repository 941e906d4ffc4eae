import { HttpError } from "./http-error.ts";
import { MOST_FILES } from "../routes/wire-schemas.ts";
import { bodyBytes, parsedJson, type BodyLimits } from "./read-body.ts";

/** Files, and the JSON. To read a part takes far longer than to send it. */
const MOST_PARTS = 1 + MOST_FILES;

export const isMultipart = (request: Request): boolean =>
  /^multipart\/form-data\s*;/i.test(request.headers.get("content-type") ?? "");

/** A message with its files in one form: `body` is the JSON, and each `files` is a file. */
export async function multipartBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const boundary = boundaryOf(request.headers.get("content-type")!);
  const bytes = await bodyBytes(request, limits);
  if (partsOf(bytes, boundary) > MOST_PARTS)
    throw new HttpError(413, "TOO_LARGE", `The form has more than ${MOST_PARTS} parts.`, { field: "files" });
  const form = await formOf(bytes, boundary);
  const unknown = [...form.keys()].find((name) => name !== "body" && name !== "files");
  if (unknown !== undefined)
    throw new HttpError(400, "INVALID_INPUT", `The form has the unknown part "${unknown}".`, { field: unknown });
  const [json, ...others] = form.getAll("body");
  if (typeof json !== "string" || others.length > 0)
    throw new HttpError(400, "INVALID_INPUT", 'The form needs one part "body" with JSON.', { field: "body" });
  const body = parsedJson(json);
  const files = await Promise.all(form.getAll("files").map(fileOf));
  if (typeof body !== "object" || body === null) return body;
  // Files that the body names by URL come first.
  const { files: named = [] } = body as { files?: unknown };
  return { ...body, files: Array.isArray(named) ? [...named, ...files] : named };
}

const PARAMETER = /\s*;\s*([\w!#$%&'*+.^`|~-]+)=(?:"([^"\\]*)"|([^\s";]+))\s*/y;
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;

/** The boundary between the parts. A header that two parsers may read in two ways is refused. */
function boundaryOf(type: string): string {
  const found: string[] = [];
  let at = type.indexOf(";");
  while (at < type.length) {
    PARAMETER.lastIndex = at;
    const [whole, name, quoted, plain] = PARAMETER.exec(type) ?? [];
    if (whole === undefined) throw noForm();
    if (name!.toLowerCase() === "boundary") found.push(quoted ?? plain!);
    at += whole.length;
  }
  const [boundary, ...others] = found;
  if (boundary === undefined || others.length > 0 || !BOUNDARY.test(boundary)) throw noForm();
  return boundary;
}

/** How many parts the form has: each is followed by a delimiter. */
function partsOf(bytes: Uint8Array, boundary: string): number {
  const delimiter = `\r\n--${boundary}`;
  const form = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let parts = 0;
  for (let at = form.indexOf(delimiter); at >= 0 && parts <= MOST_PARTS; at = form.indexOf(delimiter, at + 1))
    parts += 1;
  return parts;
}

/** The parser gets the boundary that was counted, and not the header of the request. */
async function formOf(bytes: Uint8Array, boundary: string): Promise<FormData> {
  const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
  try {
    return await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData();
  } catch {
    throw noForm();
  }
}

const noForm = (): HttpError => new HttpError(400, "INVALID_INPUT", "The body is not a valid multipart form.");

/** The standard gives a file without a name this one. */
const UNNAMED: ReadonlySet<string> = new Set(["", "blob"]);

async function fileOf(file: FormDataEntryValue) {
  if (typeof file === "string")
    throw new HttpError(400, "INVALID_INPUT", 'Each part "files" must be a file.', { field: "files" });
  const data = Buffer.from(await file.arrayBuffer()).toString("base64");
  return { mediaType: file.type, ...(UNNAMED.has(file.name) ? {} : { filename: file.name }), data };
}
