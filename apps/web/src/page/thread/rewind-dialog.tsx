import type { HarnessMessage, RewindResult } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useCommand, usePage, useSeat } from "../page-context.ts";
import { Modal } from "../ui/modal.tsx";
import { withVisibleSigns } from "../ui/format.ts";
import { contentText } from "./content-text.ts";

/** Shows what a rewind would change, before it changes anything. */
export function RewindDialog({ message, onClose }: { message: HarnessMessage; onClose: () => void }): VNode {
  const seat = useSeat();
  const { notify } = usePage();
  const run = useCommand();
  const [files, setFiles] = useState(true);
  const [preview, setPreview] = useState<RewindResult | string | null>(null);
  const toSeq = message.seq - 1;
  useEffect(() => {
    setPreview(null);
    seat.rewind({ toSeq, files, dryRun: true }).then(setPreview, (error: Error) => setPreview(error.message));
  }, [seat, toSeq, files]);
  const rewind = () => {
    onClose();
    run(async () => {
      const result = await seat.rewind({ toSeq, files });
      const text = contentText(message.content);
      notify(`${result.messages} messages are reverted.`, {
        label: "Copy the message",
        run: () => void navigator.clipboard.writeText(text),
      });
    });
  };
  return (
    <Modal title="Rewind to before this message" onClose={onClose}>
      <blockquote dir="auto">{contentText(message.content).slice(0, 300)}</blockquote>
      <label class="option">
        <input type="checkbox" checked={files} onChange={({ currentTarget }) => setFiles(currentTarget.checked)} />
        <span>Restore files too</span>
      </label>
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

const Preview = ({ result: { messages, files, untracked } }: { result: RewindResult }): VNode => (
  <>
    <p>
      {messages} messages are reverted{files.length === 0 ? "." : ", and these files:"}
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
