import type { HarnessDisplayState } from "@cinch/core";
import type { KeyEvent } from "../terminal/keys.ts";
import type { Line } from "../terminal/line.ts";
import type { PanelContext } from "../views/panel.ts";
import { askedApproval, askedSuspension, type AskedChoice, type AskedPanel } from "./asked-panel.ts";
import {
  GUARD_MS,
  focusHint,
  keysDueAt,
  noPanels,
  panelHasKeys,
  panelId,
  routedKey,
  shownPanel,
  withAnswer,
  withoutAnswer,
  withPanels,
  withTyping,
  type ComposerContents,
  type PanelFocus,
  type QueuedPanel,
} from "./panel-focus.ts";
import { SteadyTime } from "./steady-time.ts";

export type PressedKey =
  /** The composer, or the dialog that the user opened. */
  { to: "app" } | { to: "nothing" } | { to: "panel"; panel: AskedPanel; choice: AskedChoice };

interface Waiting {
  display: HarnessDisplayState;
  /** The dialog that the user has opened. */
  dialog: number | null;
  wrap: "words" | "terminal";
  transitionsTo: string | null;
  now: number;
}

/** The questions of the thread, and which of them is shown. What a key does here is decided by `panel-focus.ts`. */
export class AskedPanels {
  #focus: PanelFocus = noPanels;
  #panels: ReadonlyMap<string, AskedPanel> = new Map();
  /** The panel whose text is the last that was printed. */
  #printedFor: string | null = null;
  /** The panel in the last frame. */
  #drawn: string | undefined;
  #dialog: number | null = null;
  /** When the user's own dialog was closed. */
  #closedAt = -Infinity;
  #wasEnter = false;

  readonly #time = new SteadyTime();

  /** With each frame: a key answers what the last frame showed. Returns whether there is a new question. */
  sync({ display, dialog, now: at, ...context }: Waiting): boolean {
    const now = this.#time.of(at);
    if (this.#dialog !== null && dialog === null) this.#closedAt = now;
    this.#dialog = dialog;
    const pending = pendingIn(display);
    const before = this.#panels;
    this.#panels = new Map(
      pending.map((item) => [panelId(item), before.get(panelId(item)) ?? panelFor(item, context)] as const),
    );
    const asked = [...this.#panels.keys()].map((id): QueuedPanel => ({ id, kind: "asked" }));
    const opened: QueuedPanel[] = dialog === null ? [] : [{ id: `dialog ${dialog}`, kind: "opened" }];
    this.#focus = withPanels(this.#focus, [...opened, ...asked], now);
    return [...this.#panels.keys()].some((id) => !before.has(id));
  }

  /** The terminal has the frame. Keys that came while it was computed, for example of a huge command, must not answer. */
  drawn(now: number): void {
    const shown = shownPanel(this.#focus)?.id;
    if (shown !== this.#drawn) this.#focus = { ...this.#focus, shownAt: this.#time.of(now) };
    this.#drawn = shown;
  }

  press(event: KeyEvent, contents: ComposerContents): PressedKey {
    const composer = this.#steady(contents);
    const { focus, to } = routedKey(this.#focus, event, composer);
    this.#focus = focus;
    const panel = this.shown;
    // The Enter that chose in a list, when it is held: the list may have put a text into the composer.
    const isHeld = isEnter(event) && this.#wasEnter && composer.now - this.#closedAt < GUARD_MS;
    this.#wasEnter = isEnter(event);
    if (to === "nothing" || isHeld) return { to: "nothing" };
    if (to === "composer" || !panel) return { to: "app" };
    const choice = panel.press(event);
    if (choice) return { to: "panel", panel, choice };
    this.#focus = withTyping(this.#focus, composer.now);
    return { to: "app" };
  }

  /** `null`: nothing is asked, or the user's own dialog stands before it. */
  get shown(): AskedPanel | null {
    const shown = shownPanel(this.#focus);
    return (shown && this.#panels.get(shown.id)) ?? null;
  }

  hasKeys(composer: ComposerContents): boolean {
    return panelHasKeys(this.#focus, this.#steady(composer));
  }

  /** Nothing before Tab works: what the hint says must be true when it is read. */
  hint(contents: ComposerContents): string {
    const composer = this.#steady(contents);
    return composer.now < this.#guardedUntil ? "" : focusHint(this.#focus, composer);
  }

  /** When a frame is due because the panel gets the keys, or can be given them. */
  keysDueAt(contents: ComposerContents): number | null {
    const composer = this.#steady(contents);
    const isGuarded = this.shown && composer.now < this.#guardedUntil;
    const due = isGuarded ? this.#guardedUntil : keysDueAt(this.#focus, composer);
    return due === null ? null : due - composer.now + contents.now;
  }

  #steady(composer: ComposerContents): ComposerContents {
    return { ...composer, now: this.#time.of(composer.now) };
  }

  get #guardedUntil(): number {
    return this.#focus.shownAt + GUARD_MS;
  }

  /** What the shown panel needs printed right above it. */
  above(context: PanelContext): readonly Line[] {
    const { shown } = this;
    if (!shown || this.#printedFor === shown.id) return [];
    const lines = shown.above(context);
    if (lines.length > 0) this.#printedFor = shown.id;
    return lines;
  }

  /** Other lines are printed. They must not stand between a question and its text, and look like a part of it. */
  othersPrinted(): void {
    this.#printedFor = null;
  }

  answered(id: string, now: number): void {
    this.#focus = withAnswer(this.#focus, id, this.#time.of(now));
  }

  failed(id: string): void {
    this.#focus = withoutAnswer(this.#focus, id);
  }
}

const isEnter = (event: KeyEvent): boolean => event.type === "key" && event.key === "enter";

export type Pending =
  | HarnessDisplayState["pendingApprovals"][string]
  | HarnessDisplayState["pendingSuspensions"][string];

/** Oldest first. */
export const pendingIn = ({ pendingApprovals, pendingSuspensions }: HarnessDisplayState): Pending[] =>
  [...Object.values(pendingApprovals), ...Object.values(pendingSuspensions)].toSorted(
    (a, b) => a.at - b.at || a.seq - b.seq,
  );

export const panelFor = (item: Pending, context: Parameters<typeof askedSuspension>[1]): AskedPanel =>
  "digest" in item ? askedApproval(item) : askedSuspension(item, context);
