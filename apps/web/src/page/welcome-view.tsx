import { useThreads } from "@cinch/client/react";
import type { ThreadApproval, ThreadSuspension } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { hasTour, useCommand, usePage } from "./page-context.ts";
import { useDraft } from "./ui/draft.ts";

interface Props {
  isLoading: boolean;
  onThreads: () => void;
  pending: readonly (ThreadApproval | ThreadSuspension)[];
}

/** Without a thread: what waits, and a place to begin. The first message creates the thread. */
export function WelcomeView({ isLoading, onThreads, pending }: Props): VNode {
  const { client, info, open } = usePage();
  const run = useCommand();
  const draft = useDraft("new");
  const isFirst = useThreads(client)?.length === 0;
  const { text } = draft;
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.focus(), []);
  const begin = () => {
    const content = text.trim();
    if (content === "") return;
    run(async () => {
      const session = await client.createSession();
      const { id } = await session.createThread({});
      await session.post({ content, delivery: "send", id: crypto.randomUUID() });
      await session.close();
      draft.set("");
      open(id);
    });
  };
  return (
    <main class="welcome">
      <button type="button" class="quiet only-narrow" onClick={onThreads} aria-label="Threads">
        ☰
      </button>
      {isLoading ? (
        <p>Opening the thread…</p>
      ) : (
        <div class="column">
          <h1>What shall we do?</h1>
          <form
            class="composer"
            onSubmit={(event) => {
              event.preventDefault();
              begin();
            }}
          >
            <label class="sr-only" for="message">
              Message
            </label>
            <textarea
              id="message"
              ref={area}
              rows={3}
              dir="auto"
              value={text}
              placeholder="Describe a task"
              onInput={({ currentTarget }) => draft.set(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
                event.preventDefault();
                begin();
              }}
            />
            <div class="composer-row">
              <span class="hint">Enter sends · Shift-Enter is a new line · Ctrl-K has all commands</span>
              <span class="space" />
              <button type="submit" class="primary" disabled={text.trim() === ""}>
                Begin
              </button>
            </div>
          </form>
          {isFirst && hasTour(info) && (
            <p class="first">
              <a class="button" href="#/tour">
                Take the two-minute tour
              </a>
              <span class="hint">
                An agent mends a small project, which is thrown away. Its model follows a script, so it needs no key.
              </span>
            </p>
          )}
          {pending.length > 0 && (
            <section class="waiting">
              <h2>Waits for you</h2>
              <ul>
                {pending.map(({ threadId, rootThreadId, toolCallId, title, toolName }) => (
                  <li key={threadId + toolCallId}>
                    <button type="button" onClick={() => open(rootThreadId)}>
                      {title || "Untitled"} <small>{toolName}</small>
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      )}
    </main>
  );
}
