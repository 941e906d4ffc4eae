import type { HarnessEvent, Session } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import { short } from "../terminal/sanitise.ts";
import type { Printer } from "./printer.ts";

/** The first Ctrl-C: aborts the turn, even if the turn starts only afterwards. */
export class TurnInterrupt {
  readonly #session: Session;
  readonly #printer: Printer;
  #isStarted = false;

  constructor(session: Session, printer: Printer) {
    this.#session = session;
    this.#printer = printer;
  }

  start(): void {
    this.#isStarted = true;
    this.#printer.note("stopping … (press Ctrl-C again to exit at once)");
    this.#abort();
  }

  handle(event: HarnessEvent): void {
    if (this.#isStarted && event.type === "agent_start") this.#abort();
  }

  #abort(): void {
    this.#session
      .abort()
      .catch((error: unknown) => this.#printer.note(`the turn could not be aborted: ${short(messageOf(error))}`));
  }
}
