import type { Clock, HarnessDisplayState, Session } from "@cinch/core";
import type { AskedChoice, AskedPanel } from "../app/asked-panel.ts";
import { panelFor, pendingIn } from "../app/asked-panels.ts";
import type { CommandContext } from "../app/commands/command.ts";
import { errorLine } from "../app/error-line.ts";
import { panelId } from "../app/panel-focus.ts";
import { lineContext } from "./ask-in-lines.ts";
import type { LineAsker } from "./line-asker.ts";

interface LineQuestionsOptions {
  session: Session;
  asker: LineAsker;
  context: Pick<CommandContext, "edit" | "print" | "say">;
  clock: Clock;
  unicode: boolean;
  own: (work: Promise<void>) => void;
  /** Something else can be shown now. */
  closed: () => void;
}

/** Asks what the thread asks, the oldest first. An answer is bound to the question that was printed. */
export class LineQuestions {
  readonly #options: LineQuestionsOptions;
  #current: AskedPanel | null = null;
  /** Their answers are on their way. */
  readonly #answered = new Set<string>();

  constructor(options: LineQuestionsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#current !== null;
  }

  /** A question has no answer yet, not even one that is on its way. */
  hasUnanswered(display: HarnessDisplayState): boolean {
    return pendingIn(display).some((item) => !this.#answered.has(panelId(item)));
  }

  /** Closes a question that is gone: another terminal has answered it, or the turn was stopped. */
  closeGone(display: HarnessDisplayState): void {
    const current = this.#current;
    if (!current || this.#answered.has(current.id)) return;
    if (pendingIn(display).some((item) => panelId(item) === current.id)) return;
    this.#options.asker.close();
  }

  openNext(display: HarnessDisplayState, { transitionsTo }: { transitionsTo: string | null }): void {
    if (this.#current) return;
    const item = pendingIn(display).find((one) => !this.#answered.has(panelId(one)));
    if (!item) return;
    this.#current = panelFor(item, { transitionsTo, wrap: "terminal" });
    this.#options.own(this.#ask(this.#current));
  }

  async #ask(panel: AskedPanel): Promise<void> {
    const { asker, clock, unicode, closed } = this.#options;
    try {
      for (let isDone = false; !isDone;) {
        const shown = panel.inLines(lineContext(clock.now(), unicode));
        // A field alone is what the user has just chosen, such as a reason: it may follow at once.
        const taken = await asker.ask(shown, { guarded: shown.lines.length > 0 });
        isDone = taken === undefined || (await this.#carryOut(panel, taken()));
      }
    } finally {
      this.#current = null;
      closed();
    }
  }

  /** Whether the question is answered. */
  async #carryOut(panel: AskedPanel, choice: AskedChoice): Promise<boolean> {
    const { session, context } = this.#options;
    switch (choice.kind) {
      case "approval":
        return this.#answer(panel, () => session.respondToToolApproval(choice.answer));
      case "suspension":
        return this.#answer(panel, () => session.respondToToolSuspension(choice.answer));
      case "typed":
        // The lines that are commands of the app were taken before.
        return this.#carryOut(panel, choice.answer);
      case "view":
        context.print(choice.lines({ width: Infinity }));
        return false;
      case "edit": {
        const saved = await context.edit(choice.text, choice);
        return saved !== undefined && this.#carryOut(panel, choice.saved(saved));
      }
      case "none":
        if (choice.problem !== undefined) context.say(choice.problem);
        return false;
    }
  }

  async #answer(panel: AskedPanel, send: () => Promise<void>): Promise<boolean> {
    this.#answered.add(panel.id);
    try {
      await send();
    } catch (error) {
      this.#answered.delete(panel.id);
      this.#options.context.say(errorLine(error));
    }
    return true;
  }
}
