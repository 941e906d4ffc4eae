import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, type HarnessEvent } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import * as z from "zod";
import { harness, noting, permissions } from "../support.ts";
import { headOf, notesOf, reasonsOf, Registered, summarising, systemOf, toolsOf, tuned } from "./changing-profiles.ts";

const CHANGED =
  "Changed since this conversation began: the profile of this model. Earlier notes about it are no longer in force.";
const AGAIN =
  "Again as when this conversation began: the profile of this model. Earlier notes about it are no longer in force.";
const INSTRUCTED = "Your instructions have the profile of this model. Earlier notes about it are no longer in force.";

const lookUp = defineTool({ description: "Looks up", input: z.object({}), execute: () => "found" });

test("a profile that changes while a turn runs is one note: head and body keep their bytes", async () => {
  using profiles = new Registered();
  const tune = defineTool({
    description: "Registers a profile",
    input: z.object({}),
    execute: () => {
      profiles.add({
        baseSystemPrompt: "You are careful.",
        systemPromptSuffix: "Answer in verse.",
        toolDescriptionOverrides: { note: "Write it down." },
      });
      return "tuned";
    },
  });
  const model = tuned(script(call("tune"), say("1"), say("2")));
  await using h = await harness({ model, tools: { tune, note: noting().note } });
  await h.sendMessage({ content: "a" });
  await h.sendMessage({ content: "b" });
  profiles.add({ systemPromptSuffix: "Of another provider." }, "other");
  await h.sendMessage({ content: "c" });
  assert.deepEqual(notesOf(h.seen), [
    [
      CHANGED,
      "In force from now on:\n\nYou are careful.",
      "In force from now on:\n\nAnswer in verse.",
      "These tools are described anew:\n- note: Write it down.",
    ].join("\n\n"),
  ]);
  assert.deepEqual(reasonsOf(h.seen), ["first use"]);
  const [first, ...others] = model.requests;
  for (const request of others) assert.equal(headOf(request), headOf(first!));
  const bodies = model.requests.map(({ prompt }) =>
    prompt.flatMap(({ role, content }) => [content].flat().map((part) => JSON.stringify([role, part]))),
  );
  for (const [at, body] of bodies.slice(1).entries()) assert.deepEqual(body.slice(0, bodies[at]!.length), bodies[at]);
});

test("the end of the last profile is news, also in a process that has not resolved the model yet", async () => {
  using profiles = new Registered();
  const off = profiles.add({ systemPromptSuffix: "Be brief." });
  const data = new MemoryData();
  const model = tuned(script(say("1"), say("2")), "one");
  const agent = new Agent({ name: "tester", model: "one", instructions: "Test." });
  const open = () => new Harness({ id: "t", agent, resolveModel: () => model, storage: memoryStore(data) });
  const first = open();
  await first.sendMessage({ content: "a" });
  await first.close();
  off();
  const second = open();
  const seen: HarnessEvent[] = [];
  await second.selectOrCreateThread();
  second.subscribe((event) => seen.push(event));
  await second.sendMessage({ content: "b" });
  await second.close();
  assert.deepEqual(notesOf(seen), [`${CHANGED}\n\nNo longer in force, from your instructions:\n\nBe brief.`]);
});

test("the note quotes what is no longer in force, and says when everything is as it was", async () => {
  using profiles = new Registered();
  const off = profiles.add({ systemPromptSuffix: "Be brief.", toolDescriptionOverrides: { note: "Write it down." } });
  const model = tuned(script(say("1"), say("2"), say("3"), say("4")));
  await using h = await harness({ model, tools: { note: noting().note } });
  await h.sendMessage({ content: "a" });
  const offAgain = profiles.add({ systemPromptSuffix: "Be long." });
  await h.sendMessage({ content: "b" });
  offAgain();
  await h.sendMessage({ content: "c" });
  off();
  await h.sendMessage({ content: "d" });
  const gone = "No longer in force, from your instructions:\n\nBe brief.";
  assert.deepEqual(notesOf(h.seen), [
    [CHANGED, gone, "In force from now on:\n\nBe long."].join("\n\n"),
    AGAIN,
    [CHANGED, gone, "These tools are described anew:\n- note: Notes something"].join("\n\n"),
  ]);
  assert.deepEqual(reasonsOf(h.seen), ["first use"]);
});

test("a tool is refused from the moment that it is excluded, although the head still lists it", async () => {
  using profiles = new Registered();
  const { note, runs } = noting();
  const model = tuned(script(say("1"), call("note", { what: "it" }), say("2")));
  await using h = await harness({ model, tools: { note } });
  await h.sendMessage({ content: "a" });
  profiles.add({ excludedTools: ["note"] });
  await h.sendMessage({ content: "b" });
  const results = h.seen.flatMap((event) => (event.type === "tool_end" ? [event.result.content] : []));
  assert.deepEqual(runs, []);
  assert.deepEqual(results, ['Denied: the tool "note" is not available to this model. Continue without it.']);
  assert.deepEqual(notesOf(h.seen), [`${CHANGED}\n\nThese tools can't be used any more: note.`]);
  assert.ok(model.requests.every((request) => toolsOf(request).includes("note")));
});

test("a compaction makes the next head, which has the profile and its tools, with the reason", async () => {
  using profiles = new Registered();
  const steps = [say("1"), say("2"), call("look_up")];
  const model = tuned(scriptedBy(() => steps.shift() ?? say("3")));
  await using h = await harness({ model, memory: summarising });
  await h.sendMessage({ content: "a" });
  profiles.add({ systemPromptSuffix: "Be brief.", excludedTools: ["write_todos"], extraTools: { look_up: lookUp } });
  await h.sendMessage({ content: "b" });
  assert.match(notesOf(h.seen).join(), /These tools can be used when they are listed: look_up\./);
  assert.ok(!toolsOf(model.requests.at(-1)!).includes("look_up"));
  await h.compact();
  await h.sendMessage({ content: "c" });
  await h.sendMessage({ content: "d" });
  assert.equal(notesOf(h.seen).length, 1);
  assert.deepEqual(reasonsOf(h.seen), ["first use", 'the profile of model "tuned.chat/m" changed']);
  for (const request of model.requests.slice(2)) {
    assert.equal(systemOf(request), "Test.\n\nBe brief.");
    assert.deepEqual(toolsOf(request), ["ask_user", "task", "look_up"]);
  }
  assert.equal(h.seen.find((event) => event.type === "tool_end")?.result.content, "found");
});

test("a switch of the model makes a head with the profile of the new model, and no note", async () => {
  using profiles = new Registered();
  profiles.add({ systemPromptSuffix: "Two." }, "tuned:two");
  const models = new Map(["one", "two"].map((id) => [id, tuned(script(say("1"), say("2")), id)]));
  const agent = new Agent({ name: "a", model: "one", instructions: "Test." });
  const h = new Harness({ id: "t", agent, resolveModel: (id) => models.get(id)! });
  const seen: HarnessEvent[] = [];
  h.subscribe((event) => seen.push(event));
  await h.sendMessage({ content: "a" });
  profiles.add({ systemPromptSuffix: "One." }, "tuned:one");
  await h.switchModel({ modelId: "two" });
  await h.sendMessage({ content: "b" });
  await h.switchModel({ modelId: "one" });
  await h.sendMessage({ content: "c" });
  await h.close();
  assert.deepEqual(models.get("two")!.requests.map(systemOf), ["Test.\n\nTwo."]);
  assert.deepEqual(models.get("one")!.requests.map(systemOf), ["Test.", "Test.\n\nOne."]);
  assert.deepEqual(notesOf(seen), []);
});

test("after a switch of the model, notes about the profile of the last one are no longer in force", async () => {
  using profiles = new Registered();
  const models = new Map(["one", "two"].map((id) => [id, tuned(script(say("1"), say("2"), say("3")), id)]));
  const agent = new Agent({ name: "a", model: "one", instructions: "Test." });
  const h = new Harness({ id: "t", agent, resolveModel: (id) => models.get(id)! });
  const seen: HarnessEvent[] = [];
  h.subscribe((event) => seen.push(event));
  await h.sendMessage({ content: "a" });
  profiles.add({ systemPromptSuffix: "One." }, "tuned:one");
  await h.sendMessage({ content: "b" });
  await h.switchModel({ modelId: "two" });
  await h.sendMessage({ content: "c" });
  await h.sendMessage({ content: "d" });
  await h.switchModel({ modelId: "one" });
  await h.sendMessage({ content: "e" });
  await h.close();
  assert.deepEqual(notesOf(seen), [`${CHANGED}\n\nIn force from now on:\n\nOne.`, INSTRUCTED]);
  assert.equal(systemOf(models.get("one")!.requests.at(-1)!), "Test.\n\nOne.");
});

test("after a restart with other profiles the head stays and a note says what changed; with the same ones there is none", async () => {
  const data = new MemoryData();
  const model = tuned(script(say("1"), say("2"), say("3")));
  const seen: HarnessEvent[] = [];
  const run = async (content: string) => {
    await using h = await harness({ model, storage: memoryStore(data) });
    await h.selectOrCreateThread();
    await h.sendMessage({ content });
    seen.push(...h.seen);
  };
  {
    using profiles = new Registered();
    profiles.add({ systemPromptSuffix: "Be brief." });
    await run("a");
    await run("b");
  }
  await run("c");
  assert.deepEqual(model.requests.map(systemOf), Array(3).fill("Test.\n\nBe brief."));
  assert.deepEqual(notesOf(seen), [`${CHANGED}\n\nNo longer in force, from your instructions:\n\nBe brief.`]);
});

test("a profile that turns general-purpose off refuses it at once, and the note has the new description of task", async () => {
  using profiles = new Registered();
  const task = call("task", { agent: "general-purpose", prompt: "Do it" });
  const model = tuned(script(say("1"), task, say("2")));
  const agent = new Agent({ name: "a", model, subagents: [{ name: "reader", description: "Reads" }] });
  const h = new Harness({ id: "t", agent, permissions });
  const seen: HarnessEvent[] = [];
  h.subscribe((event) => seen.push(event));
  await h.sendMessage({ content: "a" });
  profiles.add({ generalPurposeSubagent: false });
  await h.sendMessage({ content: "b" });
  await h.close();
  const [result] = seen.flatMap((event) => (event.type === "tool_end" ? [event.result.content] : []));
  assert.equal(result, 'There is no subagent "general-purpose". The subagents are: reader.');
  assert.match(notesOf(seen).join(), /These tools are described anew:\n- task: [^]*The agents are:\n- reader: Reads$/);
  assert.deepEqual(reasonsOf(seen), ["first use"]);
});

test("a tool of a profile that is unregistered is refused, although the head still lists it", async () => {
  using profiles = new Registered();
  const off = profiles.add({ extraTools: { look_up: lookUp } });
  const model = tuned(script(call("look_up"), say("1"), call("look_up"), say("2")));
  await using h = await harness({ model });
  await h.sendMessage({ content: "a" });
  off();
  await h.sendMessage({ content: "b" });
  const results = h.seen.flatMap((event) => (event.type === "tool_end" ? [String(event.result.content)] : []));
  assert.equal(results[0], "found");
  assert.match(results[1]!, /^There is no tool "look_up"\./);
  assert.deepEqual(notesOf(h.seen), [`${CHANGED}\n\nThese tools can't be used any more: look_up.`]);
});

test("a rewind to before the note gets it again, and so does a clone from there", async () => {
  using profiles = new Registered();
  const model = tuned(script(say("1"), say("2"), say("3"), say("4")));
  await using h = await harness({ model });
  await h.sendMessage({ content: "a" });
  const { seq } = h.getDisplayState();
  profiles.add({ systemPromptSuffix: "Be brief." });
  await h.sendMessage({ content: "b" });
  await h.rewind({ toSeq: seq });
  await h.sendMessage({ content: "c" });
  await h.cloneThread({ atSeq: seq });
  await h.sendMessage({ content: "d" });
  assert.equal(notesOf(h.seen).length, 3);
  for (const request of model.requests) assert.equal(systemOf(request), "Test.");
  for (const { prompt } of model.requests.slice(1))
    assert.equal(JSON.stringify(prompt).match(/In force from now on/g)?.length, 1);
});

test("a model that can't be resolved is no news about its profile", async () => {
  using profiles = new Registered();
  profiles.add({ systemPromptSuffix: "Be brief.", excludedTools: ["write_todos"] });
  const data = new MemoryData();
  const seen: HarnessEvent[] = [];
  const model = tuned(script(say("1"), say("2")));
  const run = async (resolveModel: () => Promise<ScriptedModel>) => {
    const agent = new Agent({ name: "a", model: "by name", instructions: "Test." });
    const h = new Harness({ id: "t", agent, resolveModel, storage: memoryStore(data) });
    await h.selectOrCreateThread();
    h.subscribe((event) => seen.push(event));
    const { reason } = await h.sendMessage({ content: "Well?" });
    await h.close();
    return reason;
  };
  assert.equal(await run(async () => model), "complete");
  assert.equal(await run(() => Promise.reject(new Error("The list of models is down."))), "error");
  assert.equal(await run(async () => model), "complete");
  assert.deepEqual([notesOf(seen), reasonsOf(seen)], [[], ["first use"]]);
});

test("what changes nothing for this agent is no news", async () => {
  using profiles = new Registered();
  const model = tuned(script(say("1"), say("2")));
  await using h = await harness({ model, tools: { note: noting().note } });
  await h.sendMessage({ content: "a" });
  profiles.add({
    excludedTools: ["no_such_tool"],
    toolDescriptionOverrides: { no_such_tool: "x", note: "Notes something" },
  });
  await h.sendMessage({ content: "b" });
  assert.deepEqual([notesOf(h.seen), reasonsOf(h.seen)], [[], ["first use"]]);
  // As in the journals of releases that recorded no profile.
  assert.equal(h.seen.find((event) => event.type === "prompt_head")?.profile, undefined);
});
