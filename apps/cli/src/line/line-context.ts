import type { Clock, Session } from "@cinch/core";
import type { CommandContext, KeyHelp, PickList } from "../app/commands/command.ts";
import { errorLine } from "../app/error-line.ts";
import type { Env } from "../models/providers.ts";
import type { Project } from "../setup/project.ts";
import { copyToClipboard, type Copied } from "../terminal/clipboard.ts";
import { line, type Line } from "../terminal/line.ts";
import { gutterRows } from "../views/gutter.ts";
import {
  pickerFound,
  pickerPanel,
  pickerPreviewed,
  pickerState,
  pickerWants,
  type PickerState,
} from "../views/picker.ts";
import { textFieldPanel, textFieldState } from "../views/text-field.ts";
import { askInLines, lineContext } from "./ask-in-lines.ts";
import { PAGE } from "./line-answer.ts";
import type { LineAsker } from "./line-asker.ts";
import type { LineOutput } from "./line-output.ts";

interface LineContextOptions {
  project: Project;
  session: Session;
  env: Env;
  asker: LineAsker;
  output: LineOutput;
  clock: Clock;
  unicode: boolean;
  /** The next line was written before the user could see what is printed. */
  isPipe: boolean;
  compose: (text: string) => void;
  showThread: () => void;
  quit: () => void;
}

const KEYS: readonly KeyHelp[] = [
  { keys: "Enter", action: "sends the line; while the agent works, it steers" },
  { keys: "\\ at the end of a line", action: "the text goes on in the next line" },
  { keys: "a space at its beginning", action: "it is a message, whatever is asked" },
  { keys: "an empty line", action: "sends what is queued and waits, or continues a turn that stands still" },
  { keys: "Ctrl-C", action: "stops; twice leaves" },
  { keys: "Ctrl-D", action: "leaves; a turn is kept" },
];

/** What commands can do in lines of text. */
export function lineContextOf(options: LineContextOptions): CommandContext {
  const { project, session, env, asker, output, clock, unicode, isPipe, compose, showThread, quit } = options;
  const how = () => ({ unicode, now: clock.now() });
  return {
    project,
    session,
    display: () => session.getDisplayState(),
    screen: () => ({ ...lineContext(clock.now(), unicode), rows: Infinity }),
    keys: () => KEYS,
    print: (lines) => output.print(lines),
    say: (message) => output.say(message),
    async pick<T>(list: PickList<T>) {
      const opened = { panel: pickerPanel<T>(), state: pickerState(list) };
      const chosen = await askInLines(asker, opened, { ...how(), load: loaded });
      return chosen?.value;
    },
    async ask(question) {
      const opened = { panel: textFieldPanel, state: textFieldState(question) };
      return (await askInLines(asker, opened, how()))?.text;
    },
    page: (pages) => (isPipe ? printWhole(pages, output) : printPages(pages, { asker, output })),
    edit: (text) => typeAnew(text, { asker, output }),
    compose,
    copy: (text) => copied(text, env),
    showThread,
    quit,
  };
}

/** A list waits for what was found and for what an item would do: nothing is printed twice. */
async function loaded<T>(state: PickerState<T>): Promise<PickerState<T>> {
  const { search } = pickerWants(state);
  if (search !== null) {
    const items = await state.list.search!(search).catch(() => []);
    return pickerFound(state, { query: search, items });
  }
  const { preview } = pickerWants(state);
  if (preview === null || !state.taken) return state;
  const lines = await state.list.preview!(preview.item).catch((error: unknown) => [line(errorLine(error))]);
  return pickerPreviewed(state, { key: preview.key, lines });
}

interface Asking {
  asker: LineAsker;
  output: LineOutput;
}

interface Pages {
  title: string;
  lines: readonly Line[];
}

async function printWhole({ title, lines }: Pages, output: LineOutput): Promise<void> {
  output.print([line(title), ...lines]);
}

async function printPages({ title, lines }: Pages, { asker, output }: Asking) {
  output.print([line(title)]);
  for (let at = 0; at < lines.length; at += PAGE) {
    output.print(lines.slice(at, at + PAGE));
    const left = lines.length - at - PAGE;
    if (left <= 0) return;
    const step = await asker.ask(
      {
        lines: [],
        choices: [],
        typed: { prompt: `${left} more lines, q ends`, step: () => "end" as const },
        empty: { label: "continues", step: "more" as const },
      },
      { guarded: false },
    );
    if (step !== "more") return;
  }
}

/** In place of an editor, which needs a screen. `undefined`: the user keeps the text as it is. */
async function typeAnew(text: string, { asker, output }: Asking): Promise<string | undefined> {
  output.print(gutterRows(text, Infinity));
  output.say(
    "Type the new text. A line with a single dot ends it, and leaves all as it was if there is no other line.",
  );
  const typed: string[] = [];
  for (;;) {
    const step = await asker.ask(
      {
        lines: [],
        choices: [],
        typed: { prompt: ">", step: (said) => said },
        empty: { label: "is a line", step: "" },
      },
      { guarded: false },
    );
    if (step === undefined) return undefined;
    const lines = step.split("\n");
    const end = lines.indexOf(".");
    typed.push(...(end === -1 ? lines : lines.slice(0, end)));
    if (end !== -1) return typed.length === 0 ? undefined : typed.join("\n");
  }
}

/** By a program of this machine alone: a sequence for the terminal is no line of text. */
async function copied(text: string, env: Env): Promise<Copied> {
  const result = await copyToClipboard(text, { output: { writeNow: () => undefined }, env });
  if (!result.ok || result.how !== "terminal") return result;
  return { ok: false, reason: "there is no clipboard program: install xclip, xsel or wl-copy" };
}
