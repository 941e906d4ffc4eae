import type { ThreadApproval, ThreadSuspension } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { hasTour, usePage } from "./page-context.ts";
import { MessageBox, type UnsentMessage } from "./thread/message-box.tsx";
import { ConnectionNotice } from "./ui/connection-notice.tsx";
import { useFirstDraft } from "./ui/draft.ts";
import { focusComposer } from "./ui/focus.ts";

interface Props {
  isLoading: boolean;
  /** There is no thread yet. */
  isFirst: boolean;
  onThreads: () => void;
  pending: readonly (ThreadApproval | ThreadSuspension)[];
}

/** Without a thread: what waits, and a place to begin. The first message creates the thread. */
export function WelcomeView({ isLoading, isFirst, onThreads, pending }: Props): VNode {
  return (
    <main class="thread">
      <header class="thread-header only-narrow">
        <button type="button" class="quiet" onClick={onThreads} aria-label="Show threads">
          ☰
        </button>
      </header>
      <div class="welcome">
        {isLoading ? <p role="status">Opening the thread…</p> : <Beginning isFirst={isFirst} pending={pending} />}
        <ConnectionNotice />
      </div>
    </main>
  );
}

function Beginning({ isFirst, pending }: Pick<Props, "isFirst" | "pending">): VNode {
  const { client, info, open } = usePage();
  const draft = useFirstDraft();
  const mayTalk = info.may.includes("talk");
  useEffect(focusComposer, []);
  const begin = async ({ id: inputId, content, files }: UnsentMessage) => {
    const here = location.hash;
    const session = await client.createSession();
    try {
      // A message that is sent again after a reload enters the thread that it has begun.
      const { id } = await session.createThread({ id: inputId.replace("input", "thread") });
      await session.post({ id: inputId, content, files: [...files], delivery: "send" });
      // A user who has gone elsewhere meanwhile stays there.
      if (location.hash === here) open(id);
    } finally {
      await session.close();
    }
  };
  return (
    <div class="column">
      <h1>{mayTalk ? "What shall we do?" : "Choose a thread to read"}</h1>
      {mayTalk && (
        <MessageBox draft={draft} rows={3} placeholder="Describe a task" onSend={begin}>
          {({ isEmpty }) => (
            <button type="submit" class="primary" disabled={isEmpty}>
              Begin
            </button>
          )}
        </MessageBox>
      )}
      {mayTalk && <p class="hint keys">Enter sends · Shift-Enter is a new line · Ctrl-K has all commands</p>}
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
        <section class="elsewhere">
          <h2>Waits for you</h2>
          <ul>
            {pending.map(({ threadId, rootThreadId, toolCallId, title, toolName }) => (
              <li key={threadId + toolCallId}>
                <button type="button" onClick={() => open(rootThreadId)}>
                  <span dir="auto">{title || "Untitled"}</span> <small>{toolName}</small>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
