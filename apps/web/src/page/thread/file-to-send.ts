const MAX_FILE_BYTES = 10_000_000;

export interface FileToSend {
  filename: string;
  mediaType: string;
  /** Base64. */
  data: string;
}

/** Reads a file that the user has chosen. */
export async function fileToSend(file: File): Promise<FileToSend> {
  if (file.size > MAX_FILE_BYTES) throw new Error(`${file.name} is larger than 10 MB. Attach a smaller file.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return { filename: file.name, mediaType: file.type || "application/octet-stream", data: btoa(text) };
}
