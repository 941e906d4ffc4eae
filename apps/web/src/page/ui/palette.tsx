import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isComposing } from "./composition.ts";
import { Modal } from "./modal.tsx";

/** Something that can be done now. */
export interface PaletteCommand {
  name: string;
  /** Where others may have the same name. */
  id?: string;
  keys?: string;
  /** Of many: it is shown when it is sought. */
  isFoundOnly?: boolean;
  run: () => void;
}

/** Finds every command by a few of its letters. */
export function Palette({ commands, onClose }: { commands: readonly PaletteCommand[]; onClose: () => void }): VNode {
  const [query, setQuery] = useState("");
  // Not its place: commands come and go meanwhile, and none may move to where a user is about to press Enter.
  const [chosenKey, setChosenKey] = useState<string | null>(null);
  const found = useMemo(() => foundIn(commands, query), [commands, query]);
  const at = found.findIndex((command) => keyOf(command) === chosenKey);
  const chosen = Math.min(Math.max(at, 0), found.length - 1);
  const point = (index: number) => found[index] && setChosenKey(keyOf(found[index]));
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen, found]);
  const choose = (command: PaletteCommand | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      point((chosen + step + found.length) % Math.max(1, found.length));
    }
    if (event.key === "Enter") {
      event.preventDefault();
      choose(found[chosen]);
    }
  };
  return (
    <Modal title="Commands" onClose={onClose}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={found.length > 0 ? `command-${chosen}` : undefined}
        aria-label="Find a command"
        autofocus
        value={query}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setChosenKey(null);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette" ref={list} role="listbox" aria-label="Commands">
        {found.map((command, index) => (
          <li
            key={index}
            id={`command-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => choose(command)}
            onMouseMove={() => point(index)}
          >
            <span dir="auto">{command.name}</span>
            {command.keys && <kbd>{command.keys}</kbd>}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="nothing">No command has these letters.</p>}
    </Modal>
  );
}

const keyOf = ({ id, name }: PaletteCommand): string => id ?? name;

/** Names that have the query as it is come before those that only have its letters. */
function foundIn(commands: readonly PaletteCommand[], query: string): PaletteCommand[] {
  const found = commands.filter(({ name, isFoundOnly }) => (query !== "" || !isFoundOnly) && matches(name, query));
  const has = ({ name }: PaletteCommand) => name.toLowerCase().includes(query.toLowerCase());
  return [...found.filter(has), ...found.filter((command) => !has(command))];
}

/** Whether the letters of the query stand in the name, in this order. */
export function matches(name: string, query: string): boolean {
  let from = 0;
  const lower = name.toLowerCase();
  for (const letter of query.toLowerCase().replaceAll(" ", "")) {
    from = lower.indexOf(letter, from) + 1;
    if (from === 0) return false;
  }
  return true;
}
