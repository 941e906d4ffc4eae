import type { Session } from "@cinch/core";
import { messageOf } from "../error-message.ts";
import { queuedErrorLine } from "./error-line.ts";
import { restored, withEditor, withNotice, withCommandOutputs, type Outgoing } from "./ui-state.ts";
import type { UiStore } from "./ui-store.ts";

interface SessionCommandsOptions {
  session: Session;
  ui: UiStore;
  say: (message: string) => void;
}

/** What the keys ask of the session. No method rejects: a failure is one line, and no text is lost by it. */
export class SessionCommands {
  readonly #session: Session;
  readonly #ui: UiStore;
  readonly #say: (message: string) => void;
  /** The turn that the user has stopped and that has not ended yet. */
  #stopping: string | null = null;

  constructor({ session, ui, say }: SessionCommandsOptions) {
    this.#session = session;
    this.#ui = ui;
    this.#say = say;
  }

  get isStopping(): boolean {
    return this.#stopping !== null && this.#stopping === this.#session.getDisplayState().turnId;
  }

  async send(message: Outgoing, delivery: "now" | "queue"): Promise<void> {
    const { turnId, status } = this.#session.getDisplayState();
    const now = turnId === null ? "send" : "steer";
    try {
      await this.#session.post({
        content: withCommandOutputs(message.content, message.outputs),
        files: message.files,
        delivery: delivery === "queue" ? "follow_up" : now,
      });
    } catch (error) {
      this.#ui.update((state) => restored(state, message));
      return this.#say(`${messageOf(error)} Your text is kept: send it again, or find it in the history.`);
    }
    // A parked turn takes nothing until it is resumed, and that is what the user wants with the message.
    if (status === "parked") await this.resume();
  }

  async stop(): Promise<void> {
    this.#stopping = this.#session.getDisplayState().turnId;
    await this.#attempt(() => this.#session.abort());
    this.#stopping = null;
  }

  resume(): Promise<void> {
    return this.#attempt(() => this.#session.resume());
  }

  nextMode(): Promise<void> {
    return this.#attempt(async () => {
      const modes = await this.#session.listModes();
      const at = modes.findIndex(({ id }) => id === this.#session.getCurrentModeId());
      const next = modes[(at + 1) % modes.length];
      if (!next || modes.length === 1) return this.#ui.notice("There is only one mode.");
      await this.#session.switchMode({ modeId: next.id });
    });
  }

  /** A queued input that the turn has taken meanwhile can't be edited: its new text returns to the composer. */
  async editInput({ inputId, content: text }: { inputId: string; content: string }): Promise<void> {
    try {
      await this.#session.editInput({ inputId, content: text });
    } catch (error) {
      this.#ui.update((state) =>
        state.editor.text === "" ? withEditor(state, { ...state.editor, text, cursor: text.length }) : state,
      );
      this.#failed(queuedErrorLine(error));
    }
  }

  removeInput({ inputId }: { inputId: string }): Promise<void> {
    return this.#session.removeInput({ inputId }).catch((error: unknown) => this.#failed(queuedErrorLine(error)));
  }

  async #attempt(command: () => Promise<void>): Promise<void> {
    try {
      await command();
    } catch (error) {
      this.#failed(messageOf(error));
    }
  }

  #failed(message: string): void {
    // One line stays until the next key; what is longer must not be lost by it.
    if (message.length < 100) this.#ui.update((state) => withNotice(state, message));
    else this.#say(message);
  }
}
