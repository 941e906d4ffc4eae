import { inPackage, type Mutant } from "./mutant.ts";

/** What the terminal app prints of a thread, and when. */
export const terminalThread: Mutant[] = inPackage("apps/cli", [
  {
    attacks: "a thread in the terminal: a text is printed before the call that it follows",
    file: "app/open-answer.ts",
    find: "if (isEmpty(toolInputBuffers)) this.#newestSafe",
    replace: "this.#newestSafe",
    tests: ["app/thread-printer"],
  },
  {
    attacks: "a thread in the terminal: a call is printed before it has ended",
    file: "app/open-answer.ts",
    find: "return display.activeTools[toolCallId] ? null : [lostCallLine(call, context)];",
    replace: "return [lostCallLine(call, context)];",
    tests: ["app/thread-printer"],
  },
  {
    attacks: "a thread in the terminal: streamed text is printed again with the message",
    file: "app/open-answer.ts",
    find: "const taken = this.#taken[index] ?? 0;",
    replace: "const taken = this.#message ? 0 : (this.#taken[index] ?? 0);",
    tests: ["app/thread-printer"],
  },
  {
    attacks: "a thread in the terminal: a discarded answer stays unexplained",
    file: "app/open-answer.ts",
    find: "return this.hasPrinted ? discardedLines(context) : [];",
    replace: "return [];",
    tests: ["app/thread-printer"],
  },
  {
    attacks: "a thread in the terminal: after a rewind, what is gone seems to be there",
    file: "app/thread-printer.ts",
    find: "return this.#seq > 0 && messages.findLast(({ seq }) => seq <= this.#seq)?.seq !== this.#seq;",
    replace: "return false;",
    tests: ["app/thread-printer"],
  },
  {
    attacks: "a thread in the terminal: an edited call is shown with the arguments of the model",
    file: "views/call.ts",
    find: "args: outcome.args ?? asked.args",
    replace: "args: asked.args",
    tests: ["app/thread-printer"],
  },
  {
    attacks: "views: what can't be seen in a command is left out",
    file: "views/spans.ts",
    find: "text: text(foreign, { reveal: true }),",
    replace: "text: text(foreign),",
    tests: ["views/hostile-views"],
  },
  {
    attacks: "views: the text of a tool stands where the app writes",
    file: "views/outcome.ts",
    find: 'const MARGINS = { first: [span("  ")], rest: [span("  ")] };',
    replace: "const MARGINS = { first: [], rest: [] };",
    tests: ["views/hostile-views"],
  },
]);
