import type { VNode } from "preact";
import { useCommand, useField, useMay, usePage, useSeat } from "../page-context.ts";
import { ThreadTitle } from "./thread-title.tsx";

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
  const modeId = useField("modeId");
  const modelId = useField("modelId");
  const yolo = useField("yolo");
  const mayManage = useMay("manage");
  const models = [...new Set([...(modelId ? [modelId] : []), ...info.models])];
  return (
    <header class="thread-header">
      <button type="button" class="quiet only-narrow" onClick={onThreads} aria-label="Show threads">
        ☰
      </button>
      <ThreadTitle />
      {people.length > 1 && (
        <span class="people" dir="auto" title={people.join(", ")}>
          {people.join(", ")}
        </span>
      )}
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
          disabled={!mayManage}
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
