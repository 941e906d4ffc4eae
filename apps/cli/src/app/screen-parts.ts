import type { HarnessDisplayState } from "@cinch/core";
import type { CompletionSource } from "../composer/completion.ts";
import { line, type Line } from "../terminal/line.ts";
import type { Size } from "../terminal/terminal-port.ts";
import { brokenLines, wrapLines } from "../text/wrap.ts";
import { activityLines } from "../views/activity.ts";
import { agentsLines } from "../views/agents.ts";
import type { PanelView } from "../views/panel.ts";
import { queueLines } from "../views/queue.ts";
import { roomOf } from "../views/spans.ts";
import { statusLine, type StatusOptions } from "../views/status.ts";
import { tasksLines } from "../views/tasks.ts";
import type { ViewContext } from "../views/view.ts";
import type { Activity } from "./activity.ts";
import type { AskedPanels } from "./asked-panels.ts";
import { composerView } from "./composer-view.ts";
import type { FrameParts } from "./frame.ts";
import { completionLines, historySearchLines, outputLines } from "./lists-view.ts";
import type { ComposerContents } from "./panel-focus.ts";
import type { ThreadLines } from "./thread-printer.ts";
import { openList } from "./ui-keys.ts";
import type { UiState } from "./ui-state.ts";
import type { UserCommand } from "./user-command.ts";

interface Shown {
  display: HarnessDisplayState;
  activity: Activity;
  asked: AskedPanels;
  composer: ComposerContents;
  ui: UiState;
  size: Size;
  context: ViewContext;
  completions: CompletionSource;
  userCommand: UserCommand | null;
  status: StatusOptions;
  /** Queued inputs wait for the user. */
  held: boolean;
  /** Of a guide. */
  hint: string | null;
}

interface ScreenParts extends Omit<FrameParts, "print" | "transcript"> {
  /** To be printed, because the panel does not show it. */
  above: readonly Line[];
}

/** What stands around the transcript. A part that fails is replaced by a line that says so. */
export function screenParts(shown: Shown): ScreenParts {
  const { display, activity, asked, ui, size, context, userCommand, status } = shown;
  const composer = composerView(ui.editor, { columns: size.columns, rows: Math.max(1, Math.floor(size.rows / 2)) });
  return {
    activity: [
      ...(userCommand?.live(context) ?? []),
      // A panel says itself what is waited for.
      ...(asked.shown ? [] : guarded("activity", () => activityLines(display, activity, context))),
    ],
    agents: guarded("agents", () => agentsLines(display, context)),
    tasks: guarded("tasks", () => openTasks(display, context)),
    queue: guarded("queue", () => queueLines(display, context)),
    notices: notices(shown),
    composer,
    status: guarded("status", () => [statusLine(display, status, context)]),
    ...panelParts(shown, composer.lines.length),
  };
}

/** A list that is done, or that no turn works on, is in the transcript. */
const openTasks = ({ tasks, turnId }: HarnessDisplayState, context: ViewContext): Line[] =>
  turnId !== null && tasks.some(({ status }) => status !== "completed") ? tasksLines(tasks, context) : [];

/** Each is whole on every screen: its end says what to do next. */
function notices({ ui: { notice, outputs, edited }, composer, held, hint, context }: Shown): Line[] {
  const lines = outputLines(outputs, context);
  if (held && composer.isEmpty) lines.push(line("Enter sends what is queued, Alt-Up edits it", { dim: true }));
  if (edited)
    lines.push(line("A queued input: Enter keeps it, empty removes it, Esc leaves it as it was", { dim: true }));
  if (notice !== null) lines.push(line(notice, { color: "yellow" }));
  if (hint !== null) lines.push(line(hint, { color: "cyan" }));
  const room = roomOf(context);
  return lines.flatMap(({ spans }) => wrapLines(spans, room)).flatMap((row) => brokenLines(row, room));
}

/** Rules, status, what happens: a panel leaves room for them where the screen has it. */
const AROUND_PANEL = 5;

function panelParts(shown: Shown, composerRows: number): Pick<ScreenParts, "panel" | "panelHasKeys" | "above"> {
  const { ui, size, context, asked, composer } = shown;
  const room = size.rows - 1 - composerRows - (size.rows > 12 ? AROUND_PANEL : 0);
  if (ui.dialog) {
    const rows = Math.max(1, room);
    const { panel, state } = ui.dialog;
    const view = guardedPanel("panel", () => panel.view(state, { ...context, rows, active: true }));
    return { panel: view, panelHasKeys: true, above: [] };
  }
  const lists = listLines(shown);
  const question = asked.shown;
  if (!question) return { panel: { lines: lists, cursor: null }, panelHasKeys: false, above: [] };
  const active = asked.hasKeys(composer);
  const hint = asked.hint(composer);
  const below = [...(hint === "" ? [] : [line(hint, { dim: true })]), ...lists];
  // With more rows than the screen has, the first rows of what is to be approved would not be seen.
  const panelContext = { ...context, rows: Math.max(1, room - below.length), active };
  const view = guardedPanel("panel", () => question.view(panelContext));
  return {
    panel: { ...view, lines: [...view.lines, ...below] },
    panelHasKeys: active,
    above: guarded("panel", () => [...asked.above(panelContext)]),
  };
}

function listLines({ ui, completions, context }: Shown): Line[] {
  if (ui.search) return historySearchLines(ui.search);
  const list = openList(ui, completions);
  return list ? guarded("completion", () => completionLines(list, context)) : [];
}

function guarded(name: string, view: () => Line[]): Line[] {
  try {
    return view();
  } catch (error) {
    return [failure(name, error)];
  }
}

export function guardedThread(view: () => ThreadLines): ThreadLines {
  try {
    return view();
  } catch (error) {
    return { print: [], live: [failure("thread", error)] };
  }
}

function guardedPanel(name: string, view: () => PanelView): PanelView {
  try {
    return view();
  } catch (error) {
    return { lines: [failure(name, error)], cursor: null };
  }
}

/** The user can go on working, and a report has what it needs. */
const failure = (name: string, error: unknown): Line =>
  line(`The view "${name}" failed: ${String(error)}`, { color: "red" });
