import type { ComponentChildren, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCommand } from "../page-context.ts";
import { isComposing } from "../ui/composition.ts";
import { attach, filesAt, useAttachedFiles } from "../ui/attached-files.ts";
import type { Draft, SentText } from "../ui/draft.ts";
import { fileToSend, type FileToSend } from "./file-to-send.ts";

/** A message that is not accepted yet. */
export interface UnsentMessage extends SentText {
  files: readonly FileToSend[];
}

/** Alt-Enter, or Enter alone. */
export interface SendKeys {
  alt: boolean;
}

interface Props {
  draft: Draft;
  rows: number;
  placeholder: string;
  /** Resolves when the message is accepted. Otherwise it is there again. Of one id, only the first message is accepted. */
  onSend: (message: UnsentMessage, how: SendKeys) => Promise<unknown>;
  /** For an empty message. */
  onEmpty?: (() => void) | undefined;
  /** The buttons. `send` is what Enter does. */
  children: (box: { isEmpty: boolean; send: (how: SendKeys) => void }) => ComponentChildren;
}

/** Where a message is written. Files are attached with a button, pasted, or dropped anywhere on the page. */
export function MessageBox({ draft, rows, placeholder, onSend, onEmpty, children }: Props): VNode {
  const { name, text } = draft;
  const run = useCommand();
  const files = useAttachedFiles(name);
  const area = useRef<HTMLTextAreaElement>(null);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => grow(area.current!), [text]);
  const read = (list: FileList | null | undefined) =>
    run(async () => {
      const added = await Promise.all([...(list ?? [])].map(fileToSend));
      attach(name, [...filesAt(name), ...added]);
    });
  const isDropping = useDrop(read);
  const isEmpty = text.trim() === "" && files.length === 0;
  const send = (how: SendKeys) => {
    // As they are now: a key may come before what was typed last is drawn.
    const [typed, toSend] = [area.current!.value, filesAt(name)];
    if (typed.trim() === "" && toSend.length === 0) return onEmpty?.();
    // With files, a text that was sent before is another message.
    if (toSend.length > 0) draft.set(typed);
    attach(name, []);
    run(async () => {
      try {
        await draft.send((message) => onSend({ ...message, files: toSend }, how));
      } catch (error) {
        attach(name, [...toSend, ...filesAt(name)]);
        throw error;
      }
    });
  };
  return (
    <form
      class={isDropping ? "composer dropping" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        send({ alt: false });
      }}
    >
      {files.length > 0 && (
        <ul class="attached" aria-label="Attached files">
          {files.map(({ filename }, at) => (
            <li key={at}>
              <span dir="auto">{filename}</span>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${filename}`}
                onClick={() => attach(name, files.toSpliced(at, 1))}
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
        rows={rows}
        dir="auto"
        value={text}
        placeholder={isDropping ? "Drop files to attach them" : placeholder}
        onInput={({ currentTarget }) => draft.set(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          send({ alt: event.altKey });
        }}
        onPaste={(event) => {
          if (event.clipboardData?.files.length) read(event.clipboardData.files);
        }}
        enterkeyhint="send"
      />
      <div class="composer-row">
        <input
          ref={input}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => {
            read(currentTarget.files);
            currentTarget.value = "";
          }}
        />
        <button type="button" class="quiet" aria-label="Attach" onClick={() => input.current!.click()}>
          <span class="only-wide">Attach</span>
          <span class="only-narrow">+</span>
        </button>
        <span class="space" />
        {children({ isEmpty, send })}
      </div>
    </form>
  );
}

function grow(area: HTMLTextAreaElement): void {
  area.style.height = "auto";
  // The height of a placeholder counts, too, and would stay when it is another one.
  if (area.value === "") return;
  area.style.height = `${Math.min(area.scrollHeight, 320)}px`;
}

/** Files that are dropped on the page. Without this, the browser would leave the page and show the file. */
function useDrop(read: (files: FileList | undefined) => void): boolean {
  const [isDropping, setDropping] = useState(false);
  useEffect(() => {
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setDropping(true);
    };
    const left = (event: DragEvent) => {
      if (event.relatedTarget === null) setDropping(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setDropping(false);
      read(event.dataTransfer?.files);
    };
    const gone = new AbortController();
    addEventListener("dragover", over, gone);
    addEventListener("dragleave", left, gone);
    addEventListener("drop", drop, gone);
    return () => gone.abort();
  }, []);
  return isDropping;
}
