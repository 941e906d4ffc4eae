import type { Client, RemoteSession, ServerInfo } from "@cinch/client";
import type { ThreadApproval, ThreadRecord, ThreadSuspension } from "@cinch/core";
import type { VNode } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { pageCommands } from "./page-commands.ts";
import { usePageKeys } from "./page-keys.ts";
import { PageProvider, type PageContext, type PageGuide } from "./page-context.ts";
import { RulesDialog } from "./thread/rules-dialog.tsx";
import { ThreadView } from "./thread/thread-view.tsx";
import { SeatProvider } from "./page-context.ts";
import { ThreadNav } from "./threads/thread-nav.tsx";
import { UNDO_MS, useDeletion } from "./threads/use-deletion.ts";
import { moveDraft } from "./ui/draft.ts";
import { KeysDialog } from "./ui/keys-dialog.tsx";
import { Notices, type PageNotice } from "./ui/notices.tsx";
import { Palette } from "./ui/palette.tsx";
import { WelcomeView } from "./welcome-view.tsx";
import { useWaitingTitle } from "./ui/waiting-title.ts";

/** Then the list and the details lie over the conversation, as in style.css. */
const isNarrow = matchMedia("(max-width: 56rem)");

interface Props {
  client: Client;
  info: ServerInfo;
  guide?: PageGuide;
}

export function PageApp({ client, info, guide }: Props): VNode {
  const prefix = guide ? "#/tour/" : "#/t/";
  const [threadId, setThreadId] = useThreadInAddress(prefix);
  const [seat, setSeat] = useState<RemoteSession | null>(null);
  const [open, setOpen] = useState<"palette" | "rules" | "keys" | null>(null);
  const [isListOpen, setListOpen] = useState(false);
  const [isSideOpen, setSideOpen] = useSide();
  const [threads, setThreads] = useState<readonly ThreadRecord[]>();
  const [pending, setPending] = useState<readonly (ThreadApproval | ThreadSuspension)[]>();
  const { notices, report, notify, close } = useNotices();
  const deletion = useDeletion({ client, report, notify });
  const context = useMemo(
    (): PageContext => ({
      client,
      info,
      report,
      notify,
      open: (id) => {
        if (id === null && guide) return guide.leave();
        setThreadId(id);
        setListOpen(false);
      },
      addressOf: (id) => prefix + id,
      guide: guide ?? null,
    }),
    [client, info, guide, report, notify, setThreadId],
  );
  const title = threads?.find(({ id }) => id === threadId)?.title ?? "";
  useWaitingTitle({ pending, open: context.open, title });
  useEffect(() => {
    let isGone = false;
    if (threadId === null) return setSeat(null);
    const leave = (why: unknown) => {
      if (isGone) return;
      report(why);
      setThreadId(null);
    };
    const enter = (session: RemoteSession) => {
      if (isGone) return;
      session.subscribe(({ type }) => {
        if (type !== "thread_deleted") return;
        moveDraft(threadId, "new");
        leave("This thread was deleted elsewhere.");
      });
      setSeat(session);
    };
    const entering = client.createSession({ threadId });
    entering.then(enter, leave);
    return () => {
      isGone = true;
      entering.then((session) => session.close()).catch(() => {});
    };
  }, [client, threadId]);
  const remove = (thread: ThreadRecord) => {
    if (thread.id === threadId) setThreadId(null);
    deletion.remove(thread);
  };
  // While another thread is entered, commands must not reach the last one.
  const shown = seat && seat.getCurrentThreadId() === threadId ? seat : null;
  const commands = pageCommands({
    context,
    seat: shown,
    threads: threads ?? [],
    openRules: () => setOpen("rules"),
    openKeys: () => setOpen("keys"),
    remove,
    toggleSide: () => setSideOpen(!isSideOpen),
    pending: pending ?? [],
  });
  usePageKeys({
    palette: () => setOpen((now) => (now === "palette" ? null : "palette")),
    newThread: () => context.open(null),
    escape: () => {
      if (isNarrow.matches && isListOpen) return setListOpen(false);
      if (isNarrow.matches && isSideOpen && shown) return setSideOpen(false);
      const { isRunning, status } = shown?.getDisplayState() ?? {};
      if (info.may.includes("talk") && (isRunning || status === "parked")) void shown!.abort().catch(report);
    },
  });
  return (
    <PageProvider value={context}>
      <div class={`page ${isListOpen ? "list-open" : ""} ${isSideOpen && shown ? "side-open" : ""}`}>
        <button type="button" class="scrim" aria-label="Hide threads" onClick={() => setListOpen(false)} />
        <ThreadNav
          current={threadId}
          threads={threads}
          pending={pending}
          hidden={deletion.hidden}
          onThreads={setThreads}
          onPending={setPending}
          onDelete={remove}
        />
        {shown ? (
          <ThreadView
            seat={shown}
            isSideOpen={isSideOpen}
            onThreads={() => setListOpen(!isListOpen)}
            onSide={() => setSideOpen(!isSideOpen)}
            onPalette={() => setOpen("palette")}
          />
        ) : (
          <WelcomeView
            isLoading={threadId !== null}
            isFirst={threads?.length === 0}
            onThreads={() => setListOpen(!isListOpen)}
            pending={pending ?? []}
          />
        )}
      </div>
      {open === "palette" && <Palette commands={commands} onClose={() => setOpen(null)} />}
      {open === "keys" && <KeysDialog onClose={() => setOpen(null)} />}
      {open === "rules" && shown && (
        <SeatProvider value={shown}>
          <RulesDialog onClose={() => setOpen(null)} />
        </SeatProvider>
      )}
      <Notices notices={notices} onClose={close} />
    </PageProvider>
  );
}

/** What stands beside the conversation is open where there is room for it, and the user may open it anywhere. */
function useSide(): [boolean, (isOpen: boolean) => void] {
  const [hasRoom] = useState(() => matchMedia("(min-width: 1100px)"));
  const [isOpen, setOpen] = useState(hasRoom.matches);
  useEffect(() => {
    const onChange = () => setOpen(hasRoom.matches);
    hasRoom.addEventListener("change", onChange);
    return () => hasRoom.removeEventListener("change", onChange);
  }, [hasRoom]);
  return [isOpen, setOpen];
}

/** The thread that the address names: a reload and a link lead to it. */
function useThreadInAddress(prefix: string): [string | null, (id: string | null) => void] {
  const read = () => {
    const id = location.hash.startsWith(prefix) ? location.hash.slice(prefix.length) : "";
    return /^[\w-]{1,128}$/.test(id) ? id : null;
  };
  const [threadId, setThreadId] = useState(read);
  useEffect(() => {
    const onChange = () => setThreadId(read());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  const set = useCallback(
    (id: string | null) => {
      location.hash = id === null ? "" : prefix + id;
      setThreadId(id);
    },
    [prefix],
  );
  return [threadId, set];
}

function useNotices() {
  const [notices, setNotices] = useState<readonly PageNotice[]>([]);
  const next = useRef(0);
  const close = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const add = useCallback((notice: Omit<PageNotice, "id">) => {
    const id = next.current++;
    setNotices((all) => [...all.slice(-3), { id, ...notice }]);
    if (!notice.isError) setTimeout(() => close(id), UNDO_MS);
  }, []);
  const report = useCallback(
    (error: unknown) => add({ text: error instanceof Error ? error.message : String(error), isError: true }),
    [],
  );
  const notify = useCallback(
    (text: string, action?: PageNotice["action"]) => add({ text, isError: false, ...(action ? { action } : {}) }),
    [],
  );
  return { notices, report, notify, close };
}
