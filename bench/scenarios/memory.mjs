/** A long thread with observational memory, with a store on disk: its steps, opening it, and the prompt of a long body. */
import { join } from "node:path";
import { median } from "../lib/numbers.mjs";
import { built } from "../lib/built.mjs";
import { openingTimes } from "../lib/opening.mjs";

const sizes = new WeakMap();

function sizeOf(message) {
  if (!sizes.has(message)) sizes.set(message, JSON.stringify(message).length / 4);
  return sizes.get(message);
}

/** Reports a token for four characters, as the estimate does. */
const answer = (text, input) =>
  async function* ({ prompt }) {
    const total = Math.ceil(prompt.reduce((sum, message) => sum + sizeOf(message), 0));
    await new Promise((resolve) => setImmediate(resolve));
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: text };
    yield { type: "text-end", id: "t" };
    if (input)
      yield { type: "tool-call", toolCallId: `call-${input.at}`, toolName: "look", input: JSON.stringify(input) };
    const usage = {
      inputTokens: { total, noCache: total, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 10, text: 10, reasoning: 0 },
    };
    yield { type: "finish", finishReason: { unified: input ? "tool-calls" : "stop", raw: "" }, usage };
  };

export default async function memory({ folder, now, steps = 2_000, events = 10_000 }) {
  const [core, sqlite, testkit, memories, journal] = await Promise.all([
    built("core"),
    built("sqlite"),
    built("testkit"),
    built("memory"),
    built("core", "journal"),
  ]);
  const { scriptedBy } = testkit;
  const text = "The file has a line. ".repeat(55);
  const look = core.defineTool({
    description: "Looks",
    category: "read",
    input: { type: "object", properties: { at: { type: "number" } } },
    execute: () => text,
  });
  const begun = [];
  let step = 0;
  const model = scriptedBy(({ prompt }) => {
    const system = prompt[0]?.role === "system" ? prompt[0].content : "";
    if (system.startsWith("You keep the memory")) return answer("- The agent looked at more files. ".repeat(15));
    begun.push(now());
    return step++ < steps ? answer("Next.", { at: step }) : answer("done");
  });
  const open = async (name) => {
    const harness = new core.Harness({
      id: "bench",
      storage: sqlite.sqliteStore({ path: join(folder, `${name}.db`) }),
      agent: new core.Agent({ name: "bench", model, tools: { look }, maxSteps: steps + 10 }),
      memory: memories.observationalMemory(),
    });
    await harness.init();
    await harness.selectOrCreateThread();
    return harness;
  };

  const long = await open("long");
  const { reason, error } = await long.sendMessage({ content: "Look at all files." });
  if (reason !== "complete") throw new Error(error?.message ?? reason);
  await long.close();
  const took = begun.slice(1).map((at, index) => at - begun[index]);
  const [firstMs, lastMs] = [median(took.slice(50, 150)), median(took.slice(-100))];

  const short = await open("new");
  await short.close();

  // A body that nothing has left.
  const head = { system: "Work.", tools: [] };
  let transcript = journal.emptyTranscript;
  const add = (event, seq) => {
    transcript = journal.reduceTranscript(transcript, { ...journal.stamp(event, seq), seq, threadId: "t" });
  };
  for (let seq = 1; seq < events; seq += 2) {
    const input = { at: seq };
    const part = { type: "tool-call", toolCallId: `c${seq}`, toolName: "look", input };
    add({ type: "message_end", message: { id: `m${seq}`, role: "assistant", content: [part] } }, seq);
    const result = { content: text };
    add({ type: "tool_end", toolCallId: `c${seq}`, toolName: "look", result, isError: false, durationMs: 1 }, seq + 1);
  }
  const prompts = [];
  for (let at = 0; at < 10; at++) {
    const from = now();
    await journal.toPrompt(head, transcript, async () => undefined);
    prompts.push(now() - from);
  }
  const [openMs, newMs] = await openingTimes(open, ["long", "new"], now);
  return { firstMs, lastMs, openMs, newMs, promptMs: median(prompts.slice(1)) };
}
