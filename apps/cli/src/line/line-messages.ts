import type { Session } from "@cinch/core";
import { errorLine } from "../app/error-line.ts";
import { withCommandOutputs, type CommandOutput } from "../app/ui-state.ts";
import { UserCommand, userCommandLines } from "../app/user-command.ts";
import type { Env } from "../models/providers.ts";
import type { Line } from "../terminal/line.ts";
import { gutterRows } from "../views/gutter.ts";

interface LineMessagesOptions {
  session: Session;
  folder: string;
  env: Env;
  print: (lines: readonly Line[]) => void;
  say: (message: string) => void;
}

/** What the user sends and stops. A text that was not accepted is kept. */
export class LineMessages {
  readonly #options: LineMessagesOptions;
  /** What the user's own commands printed. It goes with the next message. */
  #outputs: readonly CommandOutput[] = [];
  #command: UserCommand | null = null;
  #back: string | null = null;

  constructor(options: LineMessagesOptions) {
    this.#options = options;
  }

  /** Something of the user's runs: a turn, or a command. */
  get isBusy(): boolean {
    const { status } = this.#options.session.getDisplayState();
    return this.#command !== null || status === "running" || status === "waiting";
  }

  /** While the agent works, a message steers it. */
  async send(content: string, delivery: "now" | "queue"): Promise<void> {
    const { session, say } = this.#options;
    const { turnId, status } = session.getDisplayState();
    const now = turnId === null ? "send" : "steer";
    const outputs = this.#outputs;
    this.#outputs = [];
    try {
      await session.post({
        content: withCommandOutputs(content, outputs),
        delivery: delivery === "queue" ? "follow_up" : now,
      });
    } catch (error) {
      this.#outputs = [...outputs, ...this.#outputs];
      this.#back = content;
      return say(`${errorLine(error)} /resend sends the text again.`);
    }
    if (delivery === "queue") say("Queued.");
    // A parked turn takes nothing until it is resumed, and that is what the user wants with the message.
    if (status === "parked") await session.resume();
  }

  /** An empty line continues what stands still. */
  async resume(): Promise<void> {
    const { session } = this.#options;
    const { status, inbox } = session.getDisplayState();
    if (status === "parked" || (status === "idle" && inbox.some(({ dueAt }) => dueAt === null))) await session.resume();
  }

  async stop(): Promise<void> {
    const { session, say } = this.#options;
    if (this.#command) return this.#command.stop();
    if (session.getDisplayState().turnId === null) return say("Nothing runs.");
    await session.abort();
  }

  /** There is no composer to put it into. */
  bringBack(text: string): void {
    this.#back = text;
    if (text.trim() === "") return;
    this.#options.print(gutterRows(text, Infinity));
    this.#options.say("Your text came back. /resend sends it as it is.");
  }

  async resend(): Promise<void> {
    const text = this.#back;
    if (text === null) return this.#options.say("No text came back.");
    this.#back = null;
    await this.send(text, "now");
  }

  async runShell(command: string): Promise<void> {
    const { folder, env, print, say } = this.#options;
    if (this.#command) return say("Your last command is still running. Ctrl-C stops it.");
    this.#command = new UserCommand(command, { folder, env, changed: () => undefined });
    const output = await this.#command.ended;
    this.#command = null;
    print(userCommandLines(output).slice(1));
    this.#outputs = [...this.#outputs, output];
    say("The output goes with your next message.");
  }

  endCommand(): void {
    this.#command?.stop();
  }
}
