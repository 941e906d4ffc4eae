/** What the model of the app under test says, by name. A gate is a file in the folder of the project: the model waits for it. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { call, finish, hang, say, type Step } from "@cinch/testkit";
import { hostile } from "../../terminal/hostile.ts";

async function opened(gate: string, signal: AbortSignal | undefined): Promise<void> {
  const isOpen = () => existsSync(gate) || signal?.aborted === true;
  while (!isOpen()) await sleep(20);
}

/** Streams the text, waits for the gate, then streams the rest. */
const gated = (text: string, gate: string, rest = ""): Step =>
  async function* ({ abortSignal }) {
    yield { type: "stream-start", warnings: [] };
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: text };
    await opened(gate, abortSignal);
    if (rest !== "") yield { type: "text-delta", id: "t", delta: rest };
    yield { type: "text-end", id: "t" };
    yield finish("stop");
  };

/** Calls the tool when the gate is open. */
const gatedCall = (gate: string, toolName: string, args: unknown): Step =>
  async function* (options) {
    await opened(gate, options.abortSignal);
    yield* call(toolName, args)(options);
  };

const command = (text: string) => call("execute", { command: text });
const corpus = Object.entries(hostile).map(([name, text]) => `${name}: ${text}`);

export const scripts: Record<string, Step[]> = {
  streams: [gated("The first paragraph.\n\nThe second ", "gate", "one is **long**.\n"), say("Second answer.")],
  hangs: [hang("I hang here")],
  silent: [hang()],
  fails: [
    () => {
      throw new Error("the provider is on fire");
    },
  ],
  asks: [command("echo approved > proof.txt"), say("The command is done."), command("echo again"), say("Over.")],
  "asks late": [gatedCall("gate", "execute", { command: "echo approved > proof.txt" }), say("The command is done.")],
  "asks twice": [
    call(
      ["execute", { command: "echo one >> proof.txt" }, "c1"],
      ["execute", { command: "echo two >> proof.txt" }, "c2"],
    ),
    say("Both are done."),
  ],
  questions: [
    call("ask_user", { question: "Which database?", options: [{ label: "sqlite" }, { label: "postgres" }] }),
    say("It is chosen."),
  ],
  plans: [call("submit_plan", { title: "Release", plan: "# Steps\n\n- first\n- second\n" }), say("Carried out.")],
  edits: [
    call("write_file", { file_path: "/notes.md", content: "first\n" }),
    say("Written."),
    call("write_file", { file_path: "/notes.md", content: "second\n" }),
    say("Written again."),
  ],
  "is hostile": [say(corpus.join("\n\n")), command(`echo ${hostile["reverses the direction"]}`), say("Harmless.")],
};
