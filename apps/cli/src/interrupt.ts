import type { HarnessEvent, Session } from "@cinch/core";
import { short } from "./terminal/plain.ts";
import type { Screen } from "./terminal/screen.ts";

/** The first Ctrl-C. It may come before the turn that it is meant for. */
export class Interrupt {
  readonly #session: Session;
  readonly #screen: Screen;
  #wanted = false;

  constructor(session: Session, screen: Screen) {
    this.#session = session;
    this.#screen = screen;
  }

  begin(): void {
    this.#wanted = true;
    this.#screen.note("stopping … (Ctrl-C again leaves at once)");
    this.#abort();
  }

  see(event: HarnessEvent): void {
    if (this.#wanted && event.type === "agent_start") this.#abort();
  }

  #abort(): void {
    this.#session
      .abort()
      .catch((error: unknown) => this.#screen.note(`the turn could not be aborted: ${short(String(error))}`));
  }
}
