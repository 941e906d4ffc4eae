import type { Input, InputFile } from "@cinch/core";
import { randomIds } from "@cinch/core/remote";

/** A message as it is sent: JSON, or a form if it has files with contents. The id makes it one message however often it is sent. */
export function wireInput<T extends Input>(input: T): { inputId: string; body: unknown } {
  const { files, id: inputId = randomIds("input"), ...rest } = input;
  const named = files
    ?.filter(({ data }) => data instanceof URL)
    .map(({ data, ...file }) => ({ ...file, url: String(data) }));
  const body = { ...rest, id: inputId, ...(named && { files: named }) };
  const contents = files?.filter(({ data }) => !(data instanceof URL)) ?? [];
  if (contents.length === 0) return { inputId, body };
  const form = new FormData();
  form.set("body", JSON.stringify(body));
  for (const file of contents) form.append("files", blobOf(file), file.filename ?? "blob");
  return { inputId, body: form };
}

function blobOf({ data, mediaType }: InputFile): Blob {
  const bytes = typeof data === "string" ? Uint8Array.from(atob(data), (char) => char.charCodeAt(0)) : data;
  return new Blob([bytes as BlobPart], { type: mediaType });
}
