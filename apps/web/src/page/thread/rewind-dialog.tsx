import type { HarnessMessage, RewindResult } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useCommand, usePage, useSeat } from "../page-context.ts";
import { Modal } from "../ui/modal.tsx";
import { withVisibleSigns } from "../ui/format.ts";
import { contentText } from "./content-text.ts";

interface Props {
  message: HarnessMessage;
  /** The text of the message can be edited, and sent again. */
  onRewound: (text: string) => void;
  onClose: () => void;
}

/** Shows what a rewind would change, before it changes anything. */
export function RewindDialog({ message, onRewound, onClose }: Props): VNode {
  const seat = useSeat();
  const { notify } = usePage();
  const run = useCommand();
  const [files, setFiles] = useState(true);
  const [hasFiles, setHasFiles] = useState(true);
  const [preview, setPreview] = useState<RewindResult | string | null>(null);
  const toSeq = message.seq - 1;
  useEffect(() => {
    setPreview(null);
    let isGone = false;
    const failed = (error: Error & { code?: string }) => {
      if (isGone) return;
      // Without a workspace there are only messages to revert.
      if (!files || error.code !== "INVALID_INPUT") return setPreview(error.message);
      setHasFiles(false);
      setFiles(false);
    };
    seat.rewind({ toSeq, files, dryRun: true }).then((result) => void (isGone || setPreview(result)), failed);
    return () => {
      isGone = true;
    };
  }, [seat, toSeq, files]);
  const rewind = () => {
    onClose();
    run(async () => {
      const result = await seat.rewind({ toSeq, files });
      onRewound(contentText(message.content));
      notify(`${messagesOf(result)} reverted. Yours is in the composer.`);
    });
  };
  return (
    <Modal title="Rewind to before this message" onClose={onClose}>
      <blockquote dir="auto">{contentText(message.content).slice(0, 300)}</blockquote>
      {hasFiles && (
        <label class="option">
          <input type="checkbox" checked={files} onChange={({ currentTarget }) => setFiles(currentTarget.checked)} />
          <span>Restore files too</span>
        </label>
      )}
      {preview === null && <p>Looking…</p>}
      {typeof preview === "string" && <p class="failure">{preview}</p>}
      {preview !== null && typeof preview !== "string" && <Preview result={preview} />}
      <div class="choices">
        <button
          type="button"
          class="primary"
          disabled={preview === null || typeof preview === "string"}
          onClick={rewind}
        >
          Rewind
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Modal>
  );
}

const messagesOf = ({ messages }: Pick<RewindResult, "messages">): string =>
  messages === 1 ? "1 message is" : `${messages} messages are`;

const Preview = ({ result: { messages, files, untracked } }: { result: RewindResult }): VNode => (
  <>
    <p>
      {messagesOf({ messages })} reverted{files.length === 0 ? "." : ", and these files:"}
    </p>
    {files.length > 0 && (
      <ul class="files">
        {files.map(({ path, outcome }) => (
          <li key={path}>
            {withVisibleSigns(path)} <small>{outcome}</small>
          </li>
        ))}
      </ul>
    )}
    {untracked.map((reason) => (
      <p key={reason} class="failure">
        {reason}
      </p>
    ))}
  </>
);
