import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Agent,
  defineTool,
  memoryStore,
  type AllowedTool,
  type HarnessEvent,
  type Memory,
  type ToolSet,
} from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";

/** A tool that loads a skill as `skill` of @cinch/memory does, and two others. */
function tools(allowedTools?: AllowedTool[]): ToolSet {
  const skill = defineTool({
    description: "Loads a skill",
    category: "control",
    effect: "pure",
    input: z.object({ name: z.string(), text: z.optional(z.string()), broken: z.optional(z.boolean()) }),
    execute({ name, text: instructions = `How to ${name}.`, broken = false }, { loadSkill }) {
      loadSkill({ name, path: `/skills/${name}/SKILL.md`, instructions, ...(allowedTools ? { allowedTools } : {}) });
      return { content: instructions, isError: broken };
    },
  });
  const look = defineTool({ description: "Looks", category: "read", input: z.object({}), execute: () => "seen" });
  const run = defineTool({
    description: "Runs",
    category: "other",
    input: z.object({ command: z.string() }),
    matches: (pattern, { command }) => (command.startsWith(pattern) ? "all" : "none"),
    suggest: ({ command }) => command,
    execute: ({ command }) => `ran ${command}`,
  });
  return { skill, look, run };
}

const askedIn = (seen: readonly HarnessEvent[]): string[] =>
  seen.flatMap((event) => (event.type === "tool_approval_required" ? [event.toolName] : []));

test("a loaded skill is recorded in the append that ends the call, and not if the call fails", async () => {
  const model = script(call("skill", { name: "pdf", broken: true }), call("skill", { name: "pdf" }), say("done"));
  await using h = await harness({ model, tools: tools([{ toolName: "look" }]) });
  await h.sendMessage({ content: "a" });
  const types = h.seen.filter((event) => "seq" in event).map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type === "skill_loaded" || type === "tool_end"),
    ["tool_end", "skill_loaded", "tool_end"],
  );
  const loaded = h.seen.find((event) => event.type === "skill_loaded")!;
  const { name, path, allowed } = loaded;
  assert.deepEqual(
    { name, path, allowed },
    { name: "pdf", path: "/skills/pdf/SKILL.md", allowed: [{ toolName: "look" }] },
  );
});

test("until the turn ends, calls outside of what a skill lists ask, and in the next turn they don't", async () => {
  const model = script(
    call("run", { command: "before" }),
    call("skill", { name: "git" }),
    call(["run", { command: "git log" }], ["write_todos", { todos: [] }]),
    call("look"),
    call("run", { command: "rm" }),
    say("done"),
    call("look"),
    say("done"),
  );
  await using h = await harness({ model, tools: tools([{ toolName: "run", match: "git" }]) });
  h.subscribe((event) => {
    if (event.type === "tool_approval_required") void h.respondToToolApproval({ decision: "approve" });
  });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(askedIn(h.seen), ["look", "run"]);
  await h.sendMessage({ content: "b" });
  assert.deepEqual(askedIn(h.seen), ["look", "run"]);
});

test("an approval names the skill that asks, and no skill where none does", async () => {
  const model = script(
    call("run", { command: "before" }),
    call("skill", { name: "git" }),
    call("look"),
    call("run", { command: "rm" }),
    say("done"),
  );
  await using h = await harness({ model, tools: tools([{ toolName: "run", match: "git" }]), permissions: [] });
  const skills: unknown[] = [];
  h.subscribe((event) => {
    if (event.type !== "tool_approval_required") return;
    const { pendingApproval } = h.getDisplayState();
    skills.push([event.toolName, event.skill, pendingApproval?.skill]);
    void h.respondToToolApproval({ decision: "approve" });
  });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(skills, [
    ["run", undefined, null],
    ["look", "git", "git"],
    ["run", "git", "git"],
  ]);
});

test("a skill stays active when another process continues the turn, and when the user steers it", async () => {
  const data = new MemoryData();
  const steps = () => [
    call("skill", { name: "git" }),
    call("look", {}, "first"),
    call("look", {}, "second"),
    say("done"),
  ];
  const set = tools([{ toolName: "run" }]);
  const first = await harness({ model: script(...steps()), tools: set, storage: memoryStore(data) });
  first.sendMessage({ content: "a" }).catch(() => undefined);
  await first.settled();
  await first.steer({ content: "Quickly." });
  await first.close();
  await using h = await harness({ model: inTurn(...steps().slice(2)), tools: set, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  await h.respondToToolApproval({ decision: "approve" });
  const { pending } = await h.settled();
  assert.deepEqual(
    pending.map((one) => [one.toolCallId, "skill" in one && one.skill]),
    [["second", "git"]],
  );
});

test("a skill is not active after an abort, in a clone and after a rewind into its turn", async () => {
  const model = scriptedBy(({ prompt }) => {
    const last = prompt.at(-1);
    const said = JSON.stringify(last);
    if (last?.role === "tool") return said.includes("How to") ? call("look", {}, "look") : say("done");
    return said.includes("load") ? call("skill", { name: "git" }, "load") : call("look", {}, "free");
  });
  const set = tools([{ toolName: "run" }]);
  await using h = await harness({ model, tools: set });
  const loaded = async () => {
    const turn = h.sendMessage({ content: "load" });
    // In the thread that is cloned, the call still waits at the end.
    turn.catch(() => undefined);
    await h.settled();
    assert.equal(h.getDisplayState().pendingApproval?.skill, "git");
    return { turn, seq: h.seen.findLast((event) => event.type === "skill_loaded")!.seq };
  };
  const { turn } = await loaded();
  await h.abort();
  await turn;
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const again = await loaded();
  await h.rewind({ toSeq: again.seq });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const third = await loaded();
  await h.cloneThread({ atSeq: third.seq });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
});

test("a skill that a subagent loads restricts the subagent, names itself there, and not the agent above", async () => {
  const set = tools([{ toolName: "run" }]);
  const child = new Agent({
    name: "child",
    model: script(call("skill", { name: "git" }), call("look"), say("looked")),
    tools: { look: set["look"]!, skill: set["skill"]! },
  });
  const model = script(call("task", { agent: "child", prompt: "Look." }), call("look"), say("done"));
  await using h = await harness({ model, tools: set, subagents: [child] });
  const asked: unknown[] = [];
  h.subscribe(() => {
    const { pendingApproval } = h.getDisplayState();
    if (!pendingApproval || asked.length > 0) return;
    asked.push([pendingApproval.path, pendingApproval.toolName, pendingApproval.skill]);
    const { threadId, toolCallId } = pendingApproval;
    void h.respondToToolApproval({ threadId, toolCallId, decision: "approve" });
  });
  assert.equal((await h.sendMessage({ content: "a" })).reason, "complete");
  assert.deepEqual(asked, [[["child"], "look", "git"]]);
});

test("a skill that lists no tools restricts none, and one that lists an asking tool does not permit it", async () => {
  const model = script(call("skill", { name: "a" }), call("look"), say("1"));
  await using free = await harness({ model, tools: tools() });
  await free.sendMessage({ content: "a" });
  assert.deepEqual(askedIn(free.seen), []);
  const asks = script(call("skill", { name: "a" }), call("run", { command: "x" }), say("1"));
  await using h = await harness({
    model: asks,
    tools: tools([{ toolName: "run" }]),
    permissions: [],
    onAsk: "decline",
  });
  await h.sendMessage({ content: "a" });
  const results = h.seen.flatMap((event) => (event.type === "tool_end" ? [event.isError] : []));
  assert.deepEqual(results, [false, true]);
});

test("a narrow grant that is given while the skill is active keeps the next such call from asking", async () => {
  const model = script(
    call("skill", { name: "a" }),
    call("run", { command: "rm" }),
    call("run", { command: "rm" }),
    call("look"),
    say("1"),
  );
  await using h = await harness({ model, tools: tools([]) });
  const offered: string[][] = [];
  h.subscribe((event) => {
    if (event.type !== "tool_approval_required") return;
    offered.push(event.decisions.filter((one) => one.startsWith("always")));
    void h.respondToToolApproval({ decision: event.toolName === "run" ? "always_allow_tool" : "approve" });
  });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(askedIn(h.seen), ["run", "look"]);
  assert.deepEqual(offered, [["always_allow_tool"], []]);
});

test("a skill that asks for a tool of interruptOn offers no other answers than interruptOn accepts", async () => {
  const model = script(call("skill", { name: "a" }), call("run", { command: "rm" }), say("1"));
  const interruptOn = { run: { decisions: ["approve" as const, "decline" as const] } };
  await using h = await harness({ model, tools: tools([]), interruptOn });
  const offered: string[][] = [];
  h.subscribe((event) => {
    if (event.type !== "tool_approval_required") return;
    offered.push(event.decisions);
    void h.respondToToolApproval({ decision: "approve" });
  });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(offered, [["approve", "decline"]]);
});

test("under YOLO a skill does not ask, and what is denied stays denied although a skill lists it", async () => {
  const steps = [call("skill", { name: "a" }), call(["look", {}], ["run", { command: "x" }]), say("1")];
  const denied = [{ toolName: "run", policy: "deny" as const }];
  const set = tools([{ toolName: "run" }]);
  await using h = await harness({ model: script(...steps), tools: set, permissions: denied });
  await h.setState({ yolo: true });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(askedIn(h.seen), []);
  const ends = h.seen.flatMap((event) => (event.type === "tool_end" ? [`${event.toolName} ${event.isError}`] : []));
  assert.deepEqual(ends.toSorted(), ["look false", "run true", "skill false"]);
});

test("a subagent that is started while a skill is active is restricted too", async () => {
  const set = tools([{ toolName: "run" }]);
  const child = new Agent({ name: "child", model: script(call("look"), say("looked")), tools: { look: set["look"]! } });
  const model = script(call("skill", { name: "a" }), call("task", { agent: "child", prompt: "Look." }), say("done"));
  await using h = await harness({ model, tools: set, subagents: [child], onAsk: "decline" });
  await h.sendMessage({ content: "a" });
  const end = h.seen.find((event) => event.type === "subagent_tool_end");
  assert.match(String(end?.result.content), /needs a person's approval/);
});

/** A model that gives these answers in turn, whatever the prompt holds. */
function inTurn(...steps: Step[]) {
  const left = [...steps];
  return scriptedBy(() => left.shift() ?? say("nothing left"));
}

/** Summarises everything when it is asked to. */
const summarising: Memory = {
  plan: ({ isRequested, boundaries, fromSeq }) => {
    const range: [number, number] = [fromSeq, boundaries.at(-1)?.seq ?? 0];
    const cut = isRequested ? { kind: "summarise" as const, range, reason: "requested" as const } : null;
    return { cut, observe: null, reflect: null };
  },
  summarise: async () => "They talked.",
};

test("after a compaction, loaded skills stand verbatim in the prompt, in their newest version", async () => {
  const first = "Use <b>tags</b>.";
  const model = inTurn(
    call("skill", { name: "html", text: first }),
    say("1"),
    say("2"),
    call("skill", { name: "html", text: "Use none." }),
    say("3"),
    say("4"),
  );
  await using h = await harness({ model, tools: tools(), memory: summarising });
  await h.sendMessage({ content: "a" });
  await h.compact();
  await h.sendMessage({ content: "b" });
  const texts = (at: number) =>
    model.requests[at]!.prompt.flatMap(({ role, content }) =>
      role === "user" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
    );
  assert.ok(texts(2).includes(`<skill name="html">\n${first}\n</skill>`), texts(2).join("\n"));
  assert.ok((await h.explainContext()).parts.skills > 0);
  await h.sendMessage({ content: "c" });
  const before = JSON.stringify(model.requests[2]!.prompt.slice(0, 2));
  assert.equal(JSON.stringify(model.requests[4]!.prompt.slice(0, 2)), before, "a second load changes no earlier byte");
  await h.compact();
  await h.sendMessage({ content: "d" });
  const skills = texts(5).filter((text) => text.startsWith("<skill"));
  assert.deepEqual(skills, [`<skill name="html">\nUse none.\n</skill>`]);
});

test("a rewind to before a skill was loaded unloads it", async () => {
  const model = inTurn(say("0"), call("skill", { name: "pdf" }), say("1"), say("2"), say("3"));
  await using h = await harness({ model, tools: tools(), memory: summarising });
  await h.sendMessage({ content: "a" });
  const { seq } = h.getDisplayState();
  await h.sendMessage({ content: "b" });
  await h.rewind({ toSeq: seq });
  await h.sendMessage({ content: "c" });
  await h.compact();
  await h.sendMessage({ content: "d" });
  assert.doesNotMatch(JSON.stringify(model.requests.at(-1)!.prompt), /<skill/);
});
