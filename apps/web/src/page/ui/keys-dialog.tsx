import type { VNode } from "preact";
import { Modal } from "./modal.tsx";

/** Also in docs/web-page.md. */
const KEYS: readonly [keys: string, what: string][] = [
  ["Enter", "Send; while a turn runs: steer it"],
  ["Alt-Enter", "Queue, while a turn runs"],
  ["Shift-Enter", "A new line"],
  ["Esc", "Stop the turn, or close a dialog"],
  ["Ctrl-K", "All commands, and threads by their title"],
  ["Ctrl-Shift-O", "A new thread"],
  ["PgUp, PgDn", "Read the conversation, also from the composer"],
  ["F8", "Go to what waits for you"],
  ["y n e p c", "There: approve, decline, edit, always this pattern, always this category"],
];

export const KeysDialog = ({ onClose }: { onClose: () => void }): VNode => (
  <Modal title="Keys" onClose={onClose}>
    <dl class="key-list">
      {KEYS.map(([keys, what]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Modal>
);
