import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCommand, useField, useSeat } from "../page-context.ts";
import { useDraft } from "../ui/draft.ts";

const MAX_FILE_BYTES = 10_000_000;

interface Attached {
  name: string;
  mediaType: string;
  data: string;
}

/** Where a message is written. What is not sent survives a reload. While a turn runs, Enter steers it and Alt-Enter queues. */
export function Composer(): VNode {
  const seat = useSeat();
  const threadId = seat.getCurrentThreadId();
  const isRunning = useField("isRunning");
  const status = useField("status");
  const inbox = useField("inbox");
  const flags = useField("flags");
  const run = useCommand();
  const draft = useDraft(threadId ?? "new");
  const { text } = draft;
  const [files, setFiles] = useState<readonly Attached[]>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => grow(area.current), [text]);
  const isHeld = text === "" && files.length === 0 && ((flags.held && inbox.length > 0) || status === "parked");
  const send = (delivery: "send" | "steer" | "follow_up") => {
    if (isHeld) return run(() => seat.resume());
    if (text.trim() === "" && files.length === 0) return;
    const message = {
      content: text,
      files: files.map(({ name, mediaType, data }) => ({ filename: name, mediaType, data })),
    };
    draft.set("");
    setFiles([]);
    run(async () => {
      try {
        await seat.post({
          ...message,
          ...(files.length === 0 ? { files: [] } : {}),
          delivery,
          id: crypto.randomUUID(),
        });
      } catch (error) {
        // Nothing that was typed is lost.
        const newer = draft.read();
        draft.set(newer === "" ? message.content : `${message.content}\n${newer}`);
        setFiles(files);
        throw error;
      }
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send(isRunning ? (event.altKey ? "follow_up" : "steer") : "send");
  };
  const attach = async (list: FileList | null) =>
    setFiles([...files, ...(await Promise.all([...(list ?? [])].map(attached)))]);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send(isRunning ? "steer" : "send");
      }}
    >
      {files.length > 0 && (
        <ul class="attached" aria-label="Attached files">
          {files.map(({ name }, at) => (
            <li key={at}>
              {name}
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${name}`}
                onClick={() => setFiles(files.toSpliced(at, 1))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <label class="sr-only" for="message">
        Message
      </label>
      <textarea
        id="message"
        ref={area}
        rows={1}
        dir="auto"
        value={text}
        placeholder={
          isRunning
            ? "Steer the agent, or Alt-Enter to queue"
            : isHeld
              ? "Enter continues with the queue"
              : "Message the agent"
        }
        onInput={({ currentTarget }) => draft.set(currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => void (event.clipboardData?.files.length && attach(event.clipboardData.files))}
        enterkeyhint="send"
      />
      <div class="composer-row">
        <input
          ref={input}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => void attach(currentTarget.files)}
        />
        <button type="button" class="quiet" onClick={() => input.current?.click()}>
          Attach
        </button>
        <span class="space" />
        {isRunning && (
          <button type="button" onClick={() => run(() => seat.abort())} title="Esc">
            Stop
          </button>
        )}
        {isRunning && text !== "" && (
          <button type="button" onClick={() => send("follow_up")} title="Alt-Enter">
            Queue
          </button>
        )}
        <button type="submit" class="primary" disabled={!isHeld && text.trim() === "" && files.length === 0}>
          {isHeld ? "Continue" : isRunning ? "Steer" : "Send"}
        </button>
      </div>
    </form>
  );
}

function grow(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight, 320)}px`;
}

async function attached(file: File): Promise<Attached> {
  if (file.size > MAX_FILE_BYTES) throw new Error(`${file.name} is larger than 10 MB.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return { name: file.name, mediaType: file.type || "application/octet-stream", data: btoa(text) };
}
