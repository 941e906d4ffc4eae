import type { FileDiff } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useField, usePage, useSeat } from "../page-context.ts";
import { DiffCount, DiffView } from "../text/diff-view.tsx";
import { withVisibleSigns } from "../ui/format.ts";

/** Changes that were asked for. */
interface Shown {
  /** The event since which. */
  since: number;
  /** `null` until they are there. */
  diffs: readonly FileDiff[] | null;
}

/** The files that the thread has changed, with what changed since its beginning or since a message. */
export function FilesPanel(): VNode | null {
  const seat = useSeat();
  const modifiedFiles = useField("modifiedFiles");
  const messages = useField("messages");
  const { report } = usePage();
  const [shown, setShown] = useState<Shown | null>(null);
  const paths = Object.keys(modifiedFiles);
  const moments = messages.filter(({ role }) => role === "user");
  const since = moments.some(({ seq }) => seq === shown?.since) ? shown!.since : 0;
  const isShown = shown !== null;
  // What is shown must be what is there, also while the agent goes on. A change is recorded before it is made, and its call ends after it.
  useEffect(() => {
    if (!isShown || paths.length === 0) return;
    let isGone = false;
    const isAsked = (now: Shown | null) => !isGone && now?.since === shown.since;
    seat.diff({ since }).then((diffs) => setShown((now) => (isAsked(now) ? { since, diffs } : now)), report);
    return () => {
      isGone = true;
    };
  }, [seat, isShown, since, modifiedFiles, messages]);
  if (paths.length === 0) return null;
  const show = (from: number) => setShown({ since: from, diffs: shown?.diffs ?? null });
  return (
    <section class="panel">
      <h2>
        Files <small>{paths.length}</small>
      </h2>
      {shown === null ? (
        <>
          <ul class="files">
            {paths.map((path) => (
              <li key={path}>{withVisibleSigns(path)}</li>
            ))}
          </ul>
          <button type="button" onClick={() => show(0)}>
            Show changes
          </button>
        </>
      ) : (
        <>
          <label class="since">
            Since{" "}
            <select value={since} onChange={({ currentTarget }) => show(Number(currentTarget.value))}>
              <option value={0}>the beginning</option>
              {moments.map(({ seq, content }) => (
                <option key={seq} value={seq}>
                  {firstWords(content)}
                </option>
              ))}
            </select>
          </label>
          {shown.diffs?.map((file) => (
            <ChangedFile key={file.path} file={file} />
          ))}
          <button type="button" class="quiet" onClick={() => setShown(null)}>
            Hide changes
          </button>
        </>
      )}
    </section>
  );
}

/** Its lines are read and drawn when it is opened. */
function ChangedFile({ file: { path, status, diff, note } }: { file: FileDiff }): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="file-diff" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {withVisibleSigns(path)} <small>{status}</small> {diff !== "" && <DiffCount diff={diff} />}
      </summary>
      {isOpen && (diff === "" ? <p>{note}</p> : <DiffView diff={diff} label={`Changes of ${path}`} />)}
    </details>
  );
}

const firstWords = (content: readonly { type: string; text?: string }[]): string =>
  `“${(content.find(({ type }) => type === "text")?.text ?? "").slice(0, 40)}”`;
