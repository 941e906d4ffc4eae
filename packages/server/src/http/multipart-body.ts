import { HttpError } from "./http-error.ts";
import { bodyBytes, parsedJson, type BodyLimits } from "./read-body.ts";

export const isMultipart = (request: Request): boolean =>
  /^multipart\/form-data\s*;/i.test(request.headers.get("content-type") ?? "");

/** A message with its files in one form: `body` is the JSON, and each `files` is a file. */
export async function multipartBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const bytes = await bodyBytes(request, limits);
  const form = await formOf(bytes, request.headers.get("content-type")!);
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

async function formOf(bytes: Uint8Array, type: string): Promise<FormData> {
  try {
    return await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }).formData();
  } catch {
    throw new HttpError(400, "INVALID_INPUT", "The body is not a valid multipart form.");
  }
}

async function fileOf(file: FormDataEntryValue) {
  if (typeof file === "string")
    throw new HttpError(400, "INVALID_INPUT", 'Each part "files" must be a file.', { field: "files" });
  const data = Buffer.from(await file.arrayBuffer()).toString("base64");
  return { mediaType: file.type, ...(file.name === "" ? {} : { filename: file.name }), data };
}
