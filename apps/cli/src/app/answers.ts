import type { Session } from "@cinch/core";
import type { AskedChoice, AskedPanel } from "./asked-panel.ts";
import type { AskedPanels } from "./asked-panels.ts";
import type { CommandContext } from "./commands/command.ts";
import { errorLine } from "./error-line.ts";
import type { UiStore } from "./ui-store.ts";

interface AnswersOptions {
  session: Session;
  asked: AskedPanels;
  ui: UiStore;
  context: Pick<CommandContext, "edit" | "page">;
  /** Carries out the command that a text is. `false`: it is none of the app. */
  command: (text: string) => boolean;
  width: () => number;
  now: () => number;
}

/** Carries out what the user chose in a panel of the thread. An answer is bound to the question that was shown. */
export class Answers {
  readonly #options: AnswersOptions;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  async carryOut(panel: AskedPanel, choice: AskedChoice): Promise<void> {
    const { session, ui, context, width } = this.#options;
    ui.clearNotice();
    switch (choice.kind) {
      case "approval":
        return this.#answer(panel, () => session.respondToToolApproval(choice.answer));
      case "suspension":
        return this.#answer(panel, () => session.respondToToolSuspension(choice.answer));
      case "typed":
        if (!this.#options.command(choice.text)) return this.carryOut(panel, choice.answer);
        return choice.emptied();
      case "view":
        return context.page({ title: choice.title, lines: choice.lines({ width: width() }) });
      case "edit": {
        const saved = await context.edit(choice.text, choice);
        return saved === undefined ? undefined : this.carryOut(panel, choice.saved(saved));
      }
      case "none":
        if (choice.problem !== undefined) ui.notice(choice.problem);
    }
  }

  /** The panel is gone at once. If the answer is refused, it is shown again, unless the question is gone too. */
  async #answer(panel: AskedPanel, send: () => Promise<void>): Promise<void> {
    const { asked, ui, now } = this.#options;
    asked.answered(panel.id, now());
    try {
      await send();
    } catch (error) {
      asked.failed(panel.id);
      ui.notice(errorLine(error));
    }
  }
}
