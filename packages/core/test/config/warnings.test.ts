import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, defineTool, Harness } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";

type Warning = Error & { code?: string; detail?: string };

/** The warnings of the process that have this code, while something is done. */
async function warnings(code: string, work: () => Promise<unknown>): Promise<Warning[]> {
  const seen: Warning[] = [];
  const note = (warning: Warning) => warning.code === code && seen.push(warning);
  process.on("warning", note);
  try {
    await work();
    // Node emits warnings in the next tick.
    await sleep(1);
    return seen;
  } finally {
    process.off("warning", note);
  }
}

const deploy = defineTool({ description: "Deploys", input: z.object({}), execute: () => "done" });
const model = script(say("hi"));

test("init warns once about each unknown tool in the configuration, with the similar name", async () => {
  const agent = new Agent({
    name: "builder",
    model,
    tools: { deploy },
    permissions: [{ toolName: "depoly", policy: "deny" }],
    availableTools: ["deploy", "ask_usr"],
  });
  const h = new Harness({
    id: "x",
    modes: [
      { id: "build", agent, availableTools: ["deploy", "write_todo"] },
      { id: "look", agent, availableTools: ["submit_plan", "zzz"] },
    ],
    permissions: [
      { toolName: "Deploy", policy: "deny" },
      { toolName: "deploy", policy: "allow" },
      { category: "edit", policy: "deny" },
    ],
    interruptOn: { deploys: true, deploy: true },
  });
  const seen = await warnings("CINCH_UNKNOWN_TOOL", async () => {
    await h.init();
    await h.init();
    await h.createSession();
  });
  assert.ok(seen.every(({ name }) => name === "CinchWarning"));
  assert.deepEqual(
    seen.map(({ message }) => message),
    [
      'Unknown tool "Deploy" in permissions of the harness: did you mean "deploy"?',
      'Unknown tool "deploys" in interruptOn: did you mean "deploy"?',
      'Unknown tool "depoly" in permissions of agent "builder": did you mean "deploy"?',
      'Unknown tool "ask_usr" in availableTools of agent "builder": did you mean "ask_user"?',
      'Unknown tool "write_todo" in availableTools of mode "build": did you mean "write_todos"?',
      'Unknown tool "zzz" in availableTools of mode "look": there are "submit_plan", "deploy", "ask_user", "write_todos", "task".',
    ],
  );
  await h.close();
});

test("init does not warn about a configuration without unknown names", async () => {
  const agent = new Agent({ name: "a", model, tools: { deploy }, availableTools: ["deploy", "submit_plan"] });
  const permissions = [{ toolName: "deploy", policy: "allow" as const }];
  const h = new Harness({ id: "x", agent, permissions, interruptOn: { deploy: true } });
  assert.deepEqual(await warnings("CINCH_UNKNOWN_TOOL", () => h.init()), []);
  await h.close();
});

test("a listener that throws causes one info event and one process warning, and the turn continues", async () => {
  await using h = await harness({ model: script(say("hi"), say("hi")) });
  await h.createThread();
  const seen = await warnings("CINCH_SUBSCRIBER", async () => {
    h.subscribe(() => {
      throw new Error("bad listener");
    });
    h.subscribe(async () => {
      throw new Error("bad promise");
    });
    assert.equal((await h.sendMessage({ content: "one" })).reason, "complete");
    assert.equal((await h.sendMessage({ content: "two" })).reason, "complete");
  });
  assert.deepEqual(seen.map(({ message }) => message).toSorted(), [
    "A subscriber threw: bad listener",
    "A subscriber threw: bad promise",
  ]);
  assert.match(seen[0]!.detail ?? "", /warnings\.test\.ts/);
  const infos = h.seen.flatMap((event) => (event.type === "info" ? [event.message] : []));
  assert.deepEqual(infos.toSorted(), ["A subscriber threw: bad listener", "A subscriber threw: bad promise"]);
});

test("a listener that throws a value that can't be shown causes a warning, and ends neither the turn nor the process", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const thrown of [Object.create(null), proxy]) {
    await using h = await harness({ model: script(say("hello")) });
    h.subscribe(() => {
      throw thrown;
    });
    const seen = await warnings("CINCH_SUBSCRIBER", async () => {
      assert.equal((await h.sendMessage({ content: "hi" })).reason, "complete");
    });
    assert.equal(seen.length, 1);
  }
});

const ofModel = () => script(say("hi"));

test("init warns about unknown tools of listed subagents, and knows the tools of all of them", async () => {
  const inner = new Agent({ name: "inner", tools: { deploy }, availableTools: ["deploy", "depoly"] });
  const fork = new Agent({ name: "fork", forked: true, availableTools: ["tsak"] });
  const outer = new Agent({
    name: "outer",
    tools: {},
    subagents: [inner],
    permissions: [{ toolName: "deploy", policy: "ask" }],
  });
  const agent = new Agent({ name: "lead", model: ofModel(), maxSubagentDepth: 2 });
  const h = new Harness({
    id: "x",
    agent,
    subagents: [outer, fork],
    permissions: [{ toolName: "deploy", policy: "allow" }],
  });
  const seen = await warnings("CINCH_UNKNOWN_TOOL", () => h.init());
  assert.deepEqual(
    seen.map(({ message }) => message),
    [
      'Unknown tool "depoly" in availableTools of agent "inner": did you mean "deploy"?',
      'Unknown tool "tsak" in availableTools of agent "fork": did you mean "task"?',
    ],
  );
  await h.close();
});

test("an agent of a catalog is known only when it is resolved: then its unknown tools cause one warning", async () => {
  const resolve = async () =>
    new Agent({ name: "worker", model: ofModel(), tools: { deploy }, availableTools: ["depoly"] });
  const catalog = { list: async () => [{ name: "worker", description: "" }], resolve };
  const lead = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "user" ? call("task", { agent: "worker", prompt: "x" }) : say("ok"),
  );
  const agent = new Agent({ name: "lead", model: lead, tools: { look: deploy }, subagents: catalog });
  const permissions = ["deploy", "lokk"].map((toolName) => ({ toolName, policy: "allow" as const }));
  const h = new Harness({ id: "x", agent, permissions });
  const atInit = await warnings("CINCH_UNKNOWN_TOOL", () => h.init());
  const later = await warnings("CINCH_UNKNOWN_TOOL", async () => {
    await h.sendMessage({ content: "one" });
    await h.sendMessage({ content: "two" });
  });
  assert.deepEqual(
    [atInit, later].map((seen) => seen.map(({ message }) => message)),
    [
      // The catalog may have an agent with the tool "deploy".
      ['Unknown tool "lokk" in permissions of the harness: did you mean "look"?'],
      ['Unknown tool "depoly" in availableTools of agent "worker": did you mean "deploy"?'],
    ],
  );
  await h.close();
});

test("no control tool is an unknown one, also where the depth of an agent leaves it out", async () => {
  const availableTools = ["task", "agent_status", "agent_await", "agent_cancel", "submit_plan", "write_todos"];
  const helper = new Agent({ name: "helper", model, tools: { deploy }, availableTools });
  const agent = new Agent({
    name: "lead",
    model,
    tools: { deploy },
    subagents: [helper],
    maxSubagentDepth: 1,
    availableTools,
  });
  const h = new Harness({ id: "x", agent });
  assert.deepEqual(await warnings("CINCH_UNKNOWN_TOOL", () => h.init()), []);
  await h.close();
});
