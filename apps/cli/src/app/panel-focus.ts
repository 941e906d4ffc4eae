import type { KeyEvent } from "../terminal/keys.ts";

/** So long after the last key, fingers are not typing in the composer. */
export const QUIET_MS = 500;
/** No user has read a panel that is younger. */
export const GUARD_MS = 300;
/** Keyboards repeat a key that is held after a pause of up to so long, and then at least so often. */
const FIRST_REPEAT_MS = 700;
const NEXT_REPEAT_MS = 150;

/**
 * Which panel is shown, and whether it has the keys. A key that is meant for the composer never answers:
 * - A panel of the thread has the keys only while the composer is empty and quiet, or when Tab gave them.
 * - No key answers a panel in its first moments.
 * - A key goes to the panel that is shown when the key comes. A key that is held answers none that appeared since it was pressed.
 *
 * A panel that the user opened, such as a list, has the keys at once; only Enter must wait.
 */
export interface PanelFocus {
  /** What waits for the user. What the user opened comes first, then what the thread asks, oldest first. */
  readonly queue: readonly QueuedPanel[];
  /** When the first of the queue came to be shown. */
  readonly shownAt: number;
  /** Tab gave it the keys, until a key goes to the composer. */
  readonly given: boolean;
  /** When a key last went to the composer, to nothing, or to a panel that vanished unanswered. */
  readonly typedAt: number;
  /** The last key that went to the shown panel. */
  readonly panelKey: { event: KeyEvent; at: number } | null;
  /** The last key, wherever it went. */
  readonly lastKey: PressedKey | null;
  /** Panels whose answer is on its way. They are not shown again. */
  readonly answered: readonly string[];
}

interface PressedKey {
  event: KeyEvent;
  at: number;
  /** When it was pressed, if it is being held since. */
  since: number;
}

export interface QueuedPanel {
  /** Of a question of the thread: `panelId`. */
  id: string;
  /** `asked` by the thread, or `opened` by the user. */
  kind: "asked" | "opened";
}

export interface ComposerContents {
  isEmpty: boolean;
  /** Tab would complete a word. */
  completes: boolean;
  now: number;
}

export const noPanels: PanelFocus = {
  queue: [],
  shownAt: -Infinity,
  given: false,
  typedAt: -Infinity,
  panelKey: null,
  lastKey: null,
  answered: [],
};

/** The same call with other arguments, or with another question, is another panel. */
export const panelId = (asked: { threadId: string; toolCallId: string; seq: number; digest?: string }): string =>
  JSON.stringify([asked.threadId, asked.toolCallId, asked.seq, asked.digest ?? null]);

export const shownPanel = ({ queue }: PanelFocus): QueuedPanel | undefined => queue[0];

/** What waits now, oldest first. A panel that is not among it was answered elsewhere, and is gone. */
export function withPanels(focus: PanelFocus, panels: readonly QueuedPanel[], now: number): PanelFocus {
  const answered = focus.answered.filter((id) => panels.some((panel) => panel.id === id));
  const waiting = panels.filter(({ id }) => !answered.includes(id));
  const opened = waiting.filter(({ kind }) => kind === "opened").toReversed();
  const queue = [...opened, ...waiting.filter(({ kind }) => kind === "asked")];
  return withQueue({ ...focus, answered }, queue, now);
}

/** The user has answered this panel, or closed it. It is hidden until `withPanels` no longer has it. */
export function withAnswer(focus: PanelFocus, id: string, now: number): PanelFocus {
  const rest = focus.queue.filter((panel) => panel.id !== id);
  return withQueue({ ...focus, answered: [...focus.answered, id], panelKey: null }, rest, now);
}

/** The answer failed: the next `withPanels` shows the panel again. */
export const withoutAnswer = (focus: PanelFocus, id: string): PanelFocus => ({
  ...focus,
  answered: focus.answered.filter((one) => one !== id),
});

/** The guard of another panel begins anew. */
function withQueue(focus: PanelFocus, queue: readonly QueuedPanel[], now: number): PanelFocus {
  if (queue[0]?.id === focus.queue[0]?.id) return { ...focus, queue };
  // The user may be in the middle of a word for the panel that has vanished.
  const typedAt = Math.max(focus.typedAt, focus.panelKey?.at ?? -Infinity);
  return { ...focus, queue, typedAt, shownAt: now, given: false, panelKey: null };
}

export interface RoutedKey {
  focus: PanelFocus;
  /** `nothing`: the key is ignored. */
  to: "panel" | "composer" | "nothing";
}

/** Where a key goes. If the panel ignores it and the composer takes it, `withTyping` has to follow. */
export function routedKey(before: PanelFocus, event: KeyEvent, composer: ComposerContents): RoutedKey {
  const { now, isEmpty, completes } = composer;
  if (event.type !== "key" && event.type !== "text" && event.type !== "paste") return { focus: before, to: "composer" };
  const focus = { ...before, lastKey: pressedKey(before.lastKey, event, now) };
  const panel = shownPanel(focus);
  if (panel && panelTakes(focus, event, composer))
    return { focus: { ...focus, panelKey: { event, at: now } }, to: "panel" };
  const typed = withTyping(focus, now);
  if (!panel) return { focus: typed, to: "composer" };
  const mayGive = isKey(event, "tab") && !completes && now - focus.shownAt >= GUARD_MS;
  if (mayGive) return { focus: { ...focus, given: true }, to: "nothing" };
  // It must not be typed into an empty composer either.
  const isStray = isKey(event, "enter") || isHeld(focus);
  return { focus: typed, to: isStray && (isEmpty || panel.kind === "opened") ? "nothing" : "composer" };
}

function pressedKey(last: PressedKey | null, event: KeyEvent, now: number): PressedKey {
  const pause = last?.at === last?.since ? FIRST_REPEAT_MS : NEXT_REPEAT_MS;
  const isRepeated = last !== null && isSame(event, last.event) && now - last.at < pause;
  return { event, at: now, since: isRepeated ? last.since : now };
}

/** The last key repeats one that was pressed before the panel was shown. */
const isHeld = ({ lastKey, shownAt }: PanelFocus): boolean =>
  lastKey !== null && lastKey.since < lastKey.at && lastKey.since <= shownAt;

/** A key went to the composer: the panel waits again. */
export const withTyping = (focus: PanelFocus, now: number): PanelFocus => ({
  ...focus,
  typedAt: now,
  given: false,
});

function panelTakes(focus: PanelFocus, event: KeyEvent, composer: ComposerContents): boolean {
  const isTooEarly = composer.now - Math.max(focus.shownAt, focus.typedAt) < GUARD_MS;
  if (isKey(event, "enter") && isTooEarly && !focus.given) return false;
  if (isHeld(focus) && shownPanel(focus)?.kind === "asked") return false;
  return panelHasKeys(focus, composer);
}

/** Whether the shown panel has the keys. */
export function panelHasKeys(focus: PanelFocus, { now, isEmpty }: ComposerContents): boolean {
  const panel = shownPanel(focus);
  if (!panel) return false;
  if (panel.kind === "opened" || focus.given) return true;
  return isEmpty && now - focus.shownAt >= GUARD_MS && now - focus.typedAt >= QUIET_MS;
}

/** When the shown panel gets the keys if nothing happens: a frame is due then. `null`: it has them, or waits for Tab. */
export function keysDueAt(focus: PanelFocus, composer: ComposerContents): number | null {
  if (!shownPanel(focus) || !composer.isEmpty || panelHasKeys(focus, composer)) return null;
  return Math.max(focus.shownAt + GUARD_MS, focus.typedAt + QUIET_MS);
}

/** Stands beside the shown panel: how it gets the keys, and how many wait behind it. Empty if there is nothing to say. */
export function focusHint(focus: PanelFocus, composer: ComposerContents): string {
  const waits = shownPanel(focus) && !composer.isEmpty && !panelHasKeys(focus, composer);
  const more = focus.queue.length - 1;
  return [waits ? ["Tab gives it the keys"] : [], more > 0 ? [`${more} more`] : []].flat().join(" · ");
}

const isKey = (event: KeyEvent, key: string): boolean => event.type === "key" && event.key === key;
const isSame = (a: KeyEvent, b: KeyEvent): boolean => JSON.stringify(a) === JSON.stringify(b);
