import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import { noting } from "../support.ts";
import { sessionIn } from "./requests.ts";

test("a forked subagent continues the parent's conversation: its first prompt begins with the parent's last one", async () => {
  const { note } = noting();
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Review it")) return say("Looks good.");
    return prompt.some(({ role }) => role === "tool")
      ? say("Reviewed.")
      : call(["note", { what: "n" }], ["task", { agent: "reviewer", prompt: "Review it" }]);
  });
  const reviewer = new Agent({
    name: "reviewer",
    description: "Reviews",
    forked: true,
    instructions: "Be strict.",
    availableTools: ["task"],
  });
  const agent = new Agent({ name: "dev", model, instructions: "Develop.", tools: { note }, subagents: [reviewer] });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage, permissions: [{ toolName: "note", policy: "allow" }] });
  const { message } = await h.sendMessage({ content: "Build it, then have it reviewed" });
  assert.equal(textOf(message!.content), "Reviewed.");
  const [parent, fork] = model.requests as [(typeof model.requests)[number], (typeof model.requests)[number]];
  assert.equal(JSON.stringify(fork.prompt.slice(0, parent.prompt.length)), JSON.stringify(parent.prompt));
  assert.deepEqual(
    parent.tools?.map(({ name }) => name),
    ["note", "ask_user", "write_todos", "task"],
  );
  assert.equal(JSON.stringify(fork.tools), JSON.stringify(parent.tools));
  assert.deepEqual(
    fork.prompt.slice(parent.prompt.length).map(({ role }) => role),
    ["assistant", "tool", "user"],
  );
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const heads = (await storage.read(child!.id)).filter(({ type }) => type === "prompt_head");
  assert.equal(heads.length, 1);
  await h.close();
});

test("the calls of the answer that forked have fixed results in the fork, whatever the parent does meanwhile", async () => {
  const { note } = noting();
  const model = scriptedBy(({ prompt }) => {
    if (JSON.stringify(prompt.at(-1)).includes("Review it")) return say("Looks good.");
    return prompt.some(({ role }) => role === "tool")
      ? say("Reviewed.")
      : call(["note", { what: "n" }, "beside"], ["task", { agent: "reviewer", prompt: "Review it" }, "fork"]);
  });
  const reviewer = new Agent({ name: "reviewer", forked: true });
  const agent = new Agent({ name: "dev", model, tools: { note }, subagents: [reviewer] });
  const h = new Harness({ id: "t", agent, permissions: [{ toolName: "note", policy: "allow" }] });
  await h.sendMessage({ content: "Have it reviewed" });
  const inFork = model.requests.find(({ prompt }) => JSON.stringify(prompt.at(-1)).includes("Review it"))!;
  const results = inFork.prompt.flatMap((message) =>
    message.role === "tool"
      ? message.content.map((part) => ("toolCallId" in part ? [part.toolCallId, part.output] : []))
      : [],
  );
  assert.deepEqual(results, [
    ["beside", { type: "text", value: "This call runs in the parent. Its result is not known here." }],
    [
      "fork",
      {
        type: "text",
        value: "This is the fork: you are the subagent now. Do what the next message says, and end with your report.",
      },
    ],
  ]);
  await h.close();
});

test("a session of a forked subagent is resumed and forked with its own conversation, not with its caller's", async () => {
  const later = (prompt: string, mode: string, id: string) =>
    call("task", { agent: "reviewer", prompt, session: { mode, id } });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Review")) return say("I have reviewed.");
    const id = sessionIn(last);
    if (prompt.at(-1)?.role === "user")
      return call("task", { agent: "reviewer", prompt: "Review A", session: { mode: "new" } });
    const tasks = prompt.filter(({ role }) => role === "tool").length;
    return [later("Review B", "resume", id), later("Review C", "fork", id)][tasks - 1] ?? say("Reviewed.");
  });
  const reviewer = new Agent({ name: "reviewer", forked: true });
  const agent = new Agent({ name: "dev", model, subagents: [reviewer], subagentSessions: {} });
  const h = new Harness({ id: "t", agent });
  await h.sendMessage({ content: "Have it checked" });
  const asked = model.requests
    .map(({ prompt }) => prompt.flatMap((one) => (one.role === "user" ? textsOf(one) : [])))
    .filter((texts) => texts.at(-1)!.startsWith("Review"));
  assert.deepEqual(asked, [
    ["Have it checked", "Review A"],
    ["Have it checked", "Review A", "Review B"],
    ["Have it checked", "Review A", "Review B", "Review C"],
  ]);
  const children = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  assert.equal(children.length, 2);
  await h.close();
});

test("a fork whose session is resumed does not take the inputs that wait in its caller's inbox", async () => {
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Review") || last.includes("And then?")) return say("Done.");
    if (prompt.at(-1)?.role === "user")
      return call("task", { agent: "reviewer", prompt: "Review A", session: { mode: "new" } });
    if (prompt.filter(({ role }) => role === "tool").length > 1) return say("Reviewed.");
    return call("task", { agent: "reviewer", prompt: "Review B", session: { mode: "resume", id: sessionIn(last) } });
  });
  const reviewer = new Agent({ name: "reviewer", forked: true });
  const agent = new Agent({ name: "dev", model, subagents: [reviewer], subagentSessions: {} });
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent, storage });
  const turn = h.sendMessage({ content: "Have it checked" });
  await h.followUp({ content: "And then?" });
  await turn;
  await h.settled();
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const taken = (await storage.read(child!.id)).flatMap((event) =>
    event.type === "message_end" && event.message.role === "user" ? textOf(event.message.content) : [],
  );
  assert.deepEqual(taken, ["Have it checked", "Review A", "Review B"]);
  await h.close();
});

const textsOf = ({ content }: { content: readonly { type: string }[] }): string[] =>
  content.flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : []));
