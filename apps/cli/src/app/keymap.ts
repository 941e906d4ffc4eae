/** What a key of the app does. The keys of the composer's text are in `composer/editor-keys.ts`. */
const DEFAULTS = {
  send: ["enter"],
  queue: ["alt-enter"],
  "edit-queued": ["alt-up"],
  stop: ["escape"],
  interrupt: ["ctrl-c"],
  suspend: ["ctrl-z"],
  complete: ["tab"],
  "next-mode": ["shift-tab"],
  "search-history": ["ctrl-r"],
  editor: ["ctrl-g"],
  "paste-image": ["ctrl-v"],
  output: ["ctrl-o"],
  pager: ["ctrl-t"],
  redraw: ["ctrl-l"],
} as const satisfies Record<string, readonly string[]>;

export type AppAction = keyof typeof DEFAULTS;

/** The names that the configuration may give other keys. */
export const appActions = Object.keys(DEFAULTS) as AppAction[];

export type Keymap = ReadonlyMap<string, AppAction>;

/** `keys` is from the configuration: action → key. An action that is listed there loses its default key. */
export function keymapOf(keys: Partial<Record<string, string>> = {}): Keymap {
  const map = new Map<string, AppAction>();
  for (const action of appActions) {
    if (Object.hasOwn(keys, action)) continue;
    for (const key of DEFAULTS[action]) map.set(key, action);
  }
  // After the defaults: a key that the user chose wins over the action that had it.
  for (const action of appActions) if (keys[action] !== undefined) map.set(keys[action], action);
  return map;
}

/** What the user should know of `keys` in the configuration: which actions have no key because another action has theirs. */
export function keymapNotes(keys: Partial<Record<string, string>>): string[] {
  const keymap = keymapOf(keys);
  const reachable = new Set(keymap.values());
  return appActions
    .filter((action) => !reachable.has(action))
    .map((action) => {
      const key = keys[action] ?? DEFAULTS[action][0];
      return `"keys" of your configuration gives ${keyName(key)} to "${keymap.get(key)}", so "${action}" has no key. Give it another one.`;
    });
}

/** The key of an action, as a person writes it: `Ctrl-T`. */
export const keyLabel = (keymap: Keymap, action: AppAction): string =>
  keyName([...keymap].find(([, one]) => one === action)?.[0] ?? "");

/** `Ctrl-T` for `ctrl-t`. */
export function keyName(key: string): string {
  const names: Record<string, string> = { escape: "esc" };
  return key
    .split(/-(?=.)/)
    .map((part) => names[part] ?? part)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("-");
}
