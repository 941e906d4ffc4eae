import type { HarnessMessage } from "@cinch/core";
import type { RemoteSession } from "@cinch/client";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Asked } from "../asked/asked.tsx";
import { SeatProvider, usePage } from "../page-context.ts";
import { Side } from "../panels/side.tsx";
import { GuideLine } from "../tour/guide-line.tsx";
import { ConnectionNotice } from "../ui/connection-notice.tsx";
import { addToDraft } from "../ui/draft.ts";
import { focusComposer } from "../ui/focus.ts";
import { Announcements } from "./announcements.tsx";
import { Composer } from "./composer.tsx";
import { ConversationView } from "./conversation-view.tsx";
import { Queue } from "./queue.tsx";
import { RewindDialog } from "./rewind-dialog.tsx";
import { ThreadHeader } from "./thread-header.tsx";
import { usePresence } from "./use-presence.ts";

interface Props {
  seat: RemoteSession;
  isSideOpen: boolean;
  onThreads: () => void;
  onSide: () => void;
  onPalette: () => void;
}

/** One thread: its conversation, what it asks, the queue and the composer, and what stands beside. */
export function ThreadView({ seat, isSideOpen, onThreads, onSide, onPalette }: Props): VNode {
  const [rewinding, setRewinding] = useState<HarnessMessage | null>(null);
  const { info } = usePage();
  const people = usePresence(seat);
  const threadId = seat.getCurrentThreadId();
  useEffect(focusComposer, [threadId]);
  const giveDraft = (text: string) => {
    addToDraft(threadId!, text);
    focusComposer();
  };
  return (
    <SeatProvider value={seat}>
      <main class="thread">
        <ThreadHeader people={people} onThreads={onThreads} onSide={onSide} onPalette={onPalette} />
        <ConversationView key={threadId} onRewind={setRewinding} />
        <div class="bottom">
          <div class="column">
            <GuideLine />
            <Asked />
            <Queue />
            <ConnectionNotice />
            {info.may.includes("talk") ? (
              <Composer key={threadId} />
            ) : (
              <p class="hint">Your token may read this thread, and not write to it.</p>
            )}
          </div>
        </div>
        <Announcements key={threadId} />
      </main>
      {isSideOpen && <Side key={threadId} />}
      {rewinding && <RewindDialog message={rewinding} onRewound={giveDraft} onClose={() => setRewinding(null)} />}
    </SeatProvider>
  );
}
