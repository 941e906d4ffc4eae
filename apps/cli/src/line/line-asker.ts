import type { Clock } from "@cinch/core";
import type { PanelInLines } from "../views/panel.ts";
import { GUARD_MS } from "../app/panel-focus.ts";
import { answerPrompt, choiceLines, lineAnswer, looksLikeChoice, PAGE } from "./line-answer.ts";
import type { LineOutput } from "./line-output.ts";
import type { LineReader, TypedText } from "./line-reader.ts";

interface LineAskerOptions {
  reader: () => LineReader;
  output: LineOutput;
  clock: Clock;
  /** A terminal that can hide what is typed. */
  canHide: boolean;
  /** A question is open now, even if it is not ready for answers. */
  opened?: () => void;
}

interface Open {
  shown: PanelInLines<unknown>;
  printed: number;
  /** A line with less fences was begun before the question was shown. `null`: it is not ready for answers. */
  fences: number | null;
  resolve: (step: unknown) => void;
}

/** Asks one thing at a time. A line that was begun before the question was shown never answers it. */
export class LineAsker {
  readonly #options: LineAskerOptions;
  #open: Open | null = null;
  #isEnded = false;

  constructor(options: LineAskerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  /**
   * The step that the user took. `undefined`: it was closed. What follows an answer and can't be mistaken needs no guard: `guarded` is false.
   */
  async ask<Step>(shown: PanelInLines<Step>, { guarded = true } = {}): Promise<Step | undefined> {
    this.close();
    if (this.#isEnded) return this.#showClosed(shown);
    const { typed, choices } = shown;
    if (typed?.hidden && choices.length === 0 && this.#options.canHide) return this.#askHidden(shown);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const open: Open = { shown, printed: 0, fences: guarded ? null : 0, resolve };
    this.#open = open;
    this.#options.opened?.();
    await this.#show(open);
    return (await promise) as Step | undefined;
  }

  /** Prints the whole question again, because something else was printed since. */
  async again(): Promise<void> {
    const open = this.#open;
    if (!open) return;
    open.printed = 0;
    open.fences = null;
    await this.#show(open);
  }

  close(): void {
    this.#take(undefined);
  }

  /** Nothing can be answered any more: what is asked is only printed. */
  end(): void {
    this.#isEnded = true;
    this.close();
  }

  /** `ahead`: it was begun before the question was shown, so it is something else. */
  give({ text, fences }: TypedText): "taken" | "ahead" {
    const open = this.#open;
    if (!open) return "ahead";
    if (open.fences === null || fences < open.fences) return this.#refuse(open, text);
    const answer = lineAnswer(text, open);
    switch (answer.kind) {
      case "step":
        this.#take(answer.step);
        return "taken";
      case "more":
        this.#printPage(open);
        this.#prompt(open);
        return "taken";
      case "problem":
        this.#options.output.say(answer.problem);
        this.#prompt(open);
        return "taken";
    }
  }

  /** What can only be an answer is asked for again, anything else is for the caller. */
  #refuse(open: Open, text: string): "taken" | "ahead" {
    if (text.trim() !== "" && !looksLikeChoice(text, open.shown)) return "ahead";
    if (text.trim() !== "")
      this.#options.output.say(`"${text.trim()}" was typed before this question was shown, so it is not an answer.`);
    if (open.fences !== null) this.#prompt(open);
    return "taken";
  }

  #showClosed(shown: PanelInLines<unknown>): undefined {
    this.#options.output.print([...shown.lines, ...choiceLines(shown, 0)]);
  }

  async #askHidden<Step>(shown: PanelInLines<Step>): Promise<Step | undefined> {
    const { output, reader } = this.#options;
    const { typed, empty } = shown;
    // Before the question, because the terminal would show what is typed right after it.
    const hidden = reader().hidden();
    output.print(shown.lines);
    output.prompt(answerPrompt({ shown, printed: 0 }));
    const said = await hidden;
    output.end();
    if (said === undefined) return undefined;
    return said.trim() === "" && empty ? empty.step : typed!.step(said);
  }

  async #show(open: Open): Promise<void> {
    const { clock, reader, output } = this.#options;
    output.print(open.shown.lines);
    this.#printPage(open);
    if (open.fences !== null) return this.#prompt(open);
    await new Promise<void>((resolve) => clock.after(GUARD_MS, resolve));
    if (this.#open !== open) return;
    open.fences = await reader().fence();
    if (this.#open === open) this.#prompt(open);
  }

  #printPage(open: Open): void {
    this.#options.output.print(choiceLines(open.shown, open.printed));
    open.printed = Math.min(open.shown.choices.length, open.printed + PAGE);
  }

  #prompt(open: Open): void {
    this.#options.output.prompt(answerPrompt(open));
  }

  #take(step: unknown): void {
    const open = this.#open;
    this.#open = null;
    open?.resolve(step);
  }
}
