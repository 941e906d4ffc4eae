import { textOf, type HarnessEvent } from "@cinch/core";
import { plain, short } from "../terminal/sanitise.ts";

const INDENT = " ".repeat(10);

/** Prints the events of all runs of the demonstration. Calls are remembered across processes, as in the journal. */
export class DemoView {
  readonly #calls = new Map<string, string>();
  #isStreaming = false;

  heading(text: string): void {
    process.stdout.write(`\n${text}\n`);
  }

  line(who: string, text: string): void {
    if (this.#isStreaming) process.stdout.write("\n");
    this.#isStreaming = false;
    process.stdout.write(`  ${who.padEnd(6)}  ${plain(text)}\n`);
  }

  event(event: HarnessEvent): void {
    switch (event.type) {
      case "agent_start":
        if (event.resumed) this.line("", "the journal has an unfinished turn, which this process takes over");
        return;
      case "message_update":
        if (!this.#isStreaming) process.stdout.write("  model   ");
        this.#isStreaming = true;
        process.stdout.write(plain(event.delta).trimEnd() === "" ? "" : indented(event.delta));
        return;
      case "message_end":
        if (event.message.role === "user") this.line("you", textOf(event.message.content));
        else if (this.#isStreaming) process.stdout.write("\n");
        this.#isStreaming = false;
        return;
      case "tool_start":
        this.#calls.set(event.toolCallId, callText(event.toolName, event.args));
        return;
      case "tool_end":
        this.line("tool", `${this.#calls.get(event.toolCallId) ?? event.toolName} → ${outcome(event)}`);
    }
  }
}

const indented = (delta: string): string => plain(delta).replace(/\n+$/, "").replaceAll("\n", `\n${INDENT}`);

export function callText(toolName: string, args: unknown): string {
  const values = Object.entries((args ?? {}) as Record<string, unknown>).filter(([name]) => name !== "seconds");
  return [toolName, ...values.map(([, value]) => (typeof value === "string" ? value : JSON.stringify(value)))].join(
    " ",
  );
}

function outcome({ result, unknown }: Extract<HarnessEvent, { type: "tool_end" }>): string {
  return unknown ? `reported to the model: "${short(textOf(result.content), 200)}"` : short(textOf(result.content));
}
