import type { ComposerInput } from "../../src/composer/editor-keys.ts";
import { keymapOf } from "../../src/app/keymap.ts";
import { press, type UiIntent, type UiFacts } from "../../src/app/ui-keys.ts";
import { newUiState, type UiState } from "../../src/app/ui-state.ts";

export const facts = (given: Partial<UiFacts> = {}): UiFacts => ({
  width: 78,
  keymap: keymapOf(),
  entries: [],
  completions: {
    files: ["src/sum.ts", "src/sum.test.ts", "notes.md"],
    commands: [
      { name: "threads", description: "open another thread" },
      { name: "rename", description: "give the thread a title" },
    ],
  },
  queued: [],
  turn: "idle",
  ...given,
});

export const key = (name: string): ComposerInput => ({ type: "key", key: name });

/** Strings are typed letter by letter. */
export function pressed(
  events: readonly (string | ComposerInput)[],
  given: Partial<UiFacts> = {},
  from: UiState = newUiState,
): { state: UiState; intents: UiIntent[] } {
  let state = from;
  const intents: UiIntent[] = [];
  const all = events.flatMap((event): ComposerInput[] =>
    typeof event === "string" ? Array.from(event, (text) => ({ type: "text", text })) : [event],
  );
  for (const event of all) {
    const step = press(state, event, facts(given));
    state = step.state;
    intents.push(...step.intents.filter(({ type }) => type !== "load-files"));
  }
  return { state, intents };
}
