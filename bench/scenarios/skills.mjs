/** What 500 skills in the prompt cost: the same steps with and without them, in turns of two harnesses by turns. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aiSdkModel } from "../lib/ai-sdk-model.mjs";
import { median } from "../lib/numbers.mjs";
import { runTool } from "../lib/script.mjs";
import { built } from "../lib/built.mjs";

const input = { type: "object", properties: { n: { type: "number" }, note: { type: "string" } }, required: ["n"] };

export default async function skillsInPrompt({ folder, now, hooksOf, count = 500, turns = 6, steps = 100 }) {
  const place = join(folder, "workspace");
  for (let at = 0; at < count; at++) {
    const name = `skill-${at}`;
    mkdirSync(join(place, "skills", name), { recursive: true });
    const about = `Does the work number ${at}. Use it when the user asks for that kind of work and for no other.`;
    const text = `---\nname: ${name}\ndescription: ${about}\n---\n${"Do the next step. ".repeat(100)}\n`;
    writeFileSync(join(place, "skills", name, "SKILL.md"), text);
  }
  const [core, sqlite, workspace, memory] = await Promise.all(
    ["core", "sqlite", "workspace", "memory"].map((name) => built(name)),
  );
  const made = async (id, context) => {
    const marks = [];
    const cpu = [];
    const hooks = hooksOf({ onTool: () => void (marks.push(now()), cpu.push(process.cpuUsage())) });
    const { directoryBackend, createWorkspace } = workspace;
    const harness = new core.Harness({
      id,
      storage: sqlite.sqliteStore({ path: join(folder, `${id}.db`) }),
      workspace: createWorkspace({ backend: directoryBackend({ root: place }), root: place }),
      context,
      agent: new core.Agent({
        name: "bench",
        instructions: "You are a benchmark agent.",
        model: aiSdkModel("v4", hooks),
        tools: {
          bench_tool: core.defineTool({ description: "bench", input, execute: (args) => runTool(args, hooks) }),
        },
        maxSteps: 100_000,
      }),
      permissions: [{ category: "other", policy: "allow" }],
    });
    await harness.init();
    await harness.sendMessage({ content: "STEPS 20" });
    /** The median time of a step, and how long it takes from the message to the first tool. */
    const turn = async () => {
      await harness.createThread();
      await harness.sendMessage({ content: "STEPS 2" });
      marks.length = 0;
      cpu.length = 0;
      const from = now();
      await harness.sendMessage({ content: `STEPS ${steps}` });
      if (marks.length !== steps) throw new Error(`${marks.length} steps were run, not ${steps}`);
      const used = (at) => (cpu[at].user + cpu[at].system) / 1000;
      return {
        step: median(marks.slice(1).map((at, no) => at - marks[no])),
        cpu: (used(steps - 1) - used(0)) / (steps - 1),
        begin: marks[0] - from,
      };
    };
    return { turn, close: () => harness.close() };
  };
  const plain = await made("plain", []);
  const skilled = await made("skilled", [memory.skills(["/skills"])]);
  const all = { plain: [], skilled: [] };
  for (let at = 0; at < turns; at++) {
    all.plain.push(await plain.turn());
    all.skilled.push(await skilled.turn());
  }
  await plain.close();
  await skilled.close();
  const of = (which, what) => median(all[which].map((one) => one[what]));
  return {
    stepMs: of("skilled", "step"),
    plainStepMs: of("plain", "step"),
    stepCpuMs: of("skilled", "cpu"),
    plainStepCpuMs: of("plain", "cpu"),
    beginMs: of("skilled", "begin"),
    plainBeginMs: of("plain", "begin"),
  };
}
