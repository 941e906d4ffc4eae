import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useCommand, useField, usePage, useSeat } from "../page-context.ts";

interface Props {
  people: readonly string[];
  onThreads: () => void;
  onSide: () => void;
  onPalette: () => void;
}

export function ThreadHeader({ people, onThreads, onSide, onPalette }: Props): VNode {
  const seat = useSeat();
  const { info } = usePage();
  const run = useCommand();
  const title = useField("title");
  const modeId = useField("modeId");
  const modelId = useField("modelId");
  const yolo = useField("yolo");
  const [edited, setEdited] = useState<string | null>(null);
  const mayManage = info.may.includes("manage");
  const rename = () => {
    if (edited !== null && edited.trim() !== "" && edited !== title) run(() => seat.renameThread({ title: edited }));
    setEdited(null);
  };
  const models = [...new Set([...(modelId ? [modelId] : []), ...info.models])];
  return (
    <header class="thread-header">
      <button type="button" class="quiet only-narrow" onClick={onThreads} aria-label="Show threads">
        ☰
      </button>
      {edited === null ? (
        <h1>
          <button type="button" class="title" dir="auto" title={`${title} — rename`} onClick={() => setEdited(title)}>
            {title || "New thread"}
          </button>
        </h1>
      ) : (
        <input
          aria-label="Title"
          value={edited}
          autofocus
          onInput={({ currentTarget }) => setEdited(currentTarget.value)}
          onBlur={rename}
          onKeyDown={({ key }) => {
            if (key === "Enter") rename();
            if (key === "Escape") setEdited(null);
          }}
        />
      )}
      {people.length > 1 && <span class="people">{people.join(", ")}</span>}
      {info.modes.length > 1 && (
        <label>
          <span class="sr-only">Mode</span>
          <select
            value={modeId ?? info.modes[0]?.id}
            disabled={!mayManage}
            onChange={({ currentTarget }) => run(() => seat.switchMode({ modeId: currentTarget.value }))}
          >
            {info.modes.map(({ id, name }) => (
              <option key={id} value={id}>
                {name ?? id}
              </option>
            ))}
          </select>
        </label>
      )}
      {models.length > 0 && (
        <label class="only-wide">
          <span class="sr-only">Model</span>
          <select
            value={modelId ?? ""}
            disabled={!mayManage}
            onChange={({ currentTarget }) => run(() => seat.switchModel({ modelId: currentTarget.value }))}
          >
            {models.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
      )}
      {yolo && (
        <button
          type="button"
          class="yolo"
          onClick={() => run(() => seat.setState({ yolo: false }))}
          aria-label="YOLO: nothing asks. Turn it off"
          title="Nothing asks. Click to turn it off."
        >
          YOLO<span class="only-wide">: nothing asks</span>
        </button>
      )}
      <button type="button" class="quiet" onClick={onPalette} title="Ctrl-K" aria-label="Commands">
        <span class="only-wide">Commands</span>
        <span class="only-narrow" aria-hidden="true">
          ⌘
        </span>
      </button>
      <button type="button" class="quiet" onClick={onSide} aria-label="Details">
        ⋯
      </button>
    </header>
  );
}
