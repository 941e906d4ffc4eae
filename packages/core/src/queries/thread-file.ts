import type { DurableEvent } from "../events/event-map.ts";
import type { FilePart, Part } from "../events/message.ts";
import type { Thread } from "../thread/thread.ts";

/** The bytes of a file part. */
export interface ThreadFile {
  bytes: Uint8Array;
  mediaType: string;
  filename: string | null;
}

/**
 * The file that a file part of the thread names by its hash, or `null`. Blobs that no file part names, such as heads of prompts, texts of
 * the memory and contents of files that the agent changed, are not returned.
 */
export async function fileOf(thread: Thread, hash: string): Promise<ThreadFile | null> {
  const { store } = thread.ports;
  for (const seq of await store.findBlob(thread.id, hash)) {
    const [event] = await thread.read({ after: seq - 1, upTo: seq, limit: 1 });
    const part = event && filePartsIn(event).find(({ blob }) => blob === hash);
    const bytes = part && (await store.blob(hash));
    if (part && bytes) return { bytes, mediaType: part.mediaType, filename: part.filename ?? null };
  }
  return null;
}

function filePartsIn(event: DurableEvent): FilePart[] {
  switch (event.type) {
    case "input_accepted":
      return event.files ?? [];
    case "message_end":
      return filesIn(event.message.content);
    case "tool_end":
    case "subagent_end":
      return filesIn(event.result.content);
    default:
      return [];
  }
}

const filesIn = (content: string | readonly Part[]): FilePart[] =>
  typeof content === "string" ? [] : content.filter((part) => part.type === "file");
