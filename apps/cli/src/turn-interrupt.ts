import type { HarnessEvent, Session } from "@cinch/core";
import { messageOf } from "./error-message.ts";
import { short } from "./terminal/plain.ts";
import type { Screen } from "./terminal/screen.ts";

/** The first Ctrl-C: aborts the turn, even if the turn starts only afterwards. */
export class TurnInterrupt {
  readonly #session: Session;
  readonly #screen: Screen;
  #isStarted = false;

  constructor(session: Session, screen: Screen) {
    this.#session = session;
    this.#screen = screen;
  }

  start(): void {
    this.#isStarted = true;
    this.#screen.note("stopping … (press Ctrl-C again to exit at once)");
    this.#abort();
  }

  handle(event: HarnessEvent): void {
    if (this.#isStarted && event.type === "agent_start") this.#abort();
  }

  #abort(): void {
    this.#session
      .abort()
      .catch((error: unknown) => this.#screen.note(`the turn could not be aborted: ${short(messageOf(error))}`));
  }
}
