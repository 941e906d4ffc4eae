import { inPackage } from "./mutant.ts";

/** The app as lines of text: what answers a question, and that nothing but text is printed. */
export const lines = inPackage("apps/cli", [
  {
    attacks: "lines: a line that was begun before the question answers it",
    file: "line/line-asker.ts",
    find: "if (open.fences === null || fences < open.fences) return",
    replace: "if (open.fences === null) return",
    tests: ["line/typed-ahead"],
  },
  {
    attacks: "lines: a line answers a question that no user has read",
    file: "line/line-asker.ts",
    find: "fences: guarded ? null : 0, resolve",
    replace: "fences: 0, resolve",
    tests: ["line/typed-ahead"],
  },
  {
    attacks: "lines: the terminal keeps a line that was begun before the question",
    file: "line/line-reader.ts",
    find: "    if (input.setRaw) {\n      input.setRaw(true);",
    replace: "    if (input.setRaw) {",
    tests: ["line/line-terminal"],
  },
  {
    attacks: "lines: a key is shown if it is typed right after it was asked for",
    file: "line/line-asker.ts",
    find: "    const hidden = reader().hidden();\n    output.print(shown.lines);",
    replace: "    output.print(shown.lines);\n    const hidden = Promise.resolve().then(() => reader().hidden());",
    tests: ["line/line-asker"],
  },
  {
    attacks: "lines: each line of a paste is a message",
    file: "line/line-reader.ts",
    find: 'const end = this.#text.lastIndexOf("\\n");',
    replace: 'const end = this.#text.indexOf("\\n");',
    tests: ["line/line-app"],
  },
  {
    attacks: "lines: the end of a pipe leaves before the answer",
    file: "line/line-app.ts",
    find: 'if (display.status === "running") return false;',
    replace: "",
    tests: ["line/leaving"],
  },
  {
    attacks: "lines: a last line without an end is lost",
    file: "line/line-reader.ts",
    find: "if (input.setRaw) this.#deliverPaste();\n      else this.#deliverRest();",
    replace: "this.#deliverPaste();",
    tests: ["line/leaving"],
  },
  {
    attacks: "lines: a call that takes long is announced again and again",
    file: "line/turn-progress.ts",
    find: "      this.#calls.add(toolCallId);\n",
    replace: "",
    tests: ["line/line-app"],
  },
  {
    attacks: "lines: signs that are not ASCII in a locale without UTF-8",
    file: "line/readable-line.ts",
    find: "(unicode ? plain : toAscii(plain))",
    replace: "plain",
    tests: ["line/hostile-lines"],
  },
  {
    attacks: "lines: an answer that came together with its question is a message",
    file: "line/line-app.ts",
    find: "(isOpen || this.#asked.isOpen || !isWaiting)",
    replace: "(isOpen || this.#questions.isOpen || !isWaiting)",
    tests: ["line/piped-lines"],
  },
  {
    attacks: "lines: an open list takes all lines of a pipe at once",
    file: "line/line-app.ts",
    find: "    if (!follows) return true;",
    replace: "    if (isOpen || !follows) return true;",
    tests: ["line/piped-lines"],
  },
  {
    attacks: "lines: an open question does not take the next line of a pipe",
    file: "line/line-app.ts",
    find: "this.#asked = new LineAsker({ ...asking, opened: changed });",
    replace: "this.#asked = new LineAsker(asking);",
    tests: ["line/piped-lines"],
  },
]);
