import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { noting } from "../support.ts";

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test("a subagent whose catalog fails for a while starts when the catalog answers", async () => {
  let calls = 0;
  const worker = new Agent({ name: "worker", model: script(say("ok")), tools: {} });
  const catalog = {
    list: async () => [{ name: "worker", description: "" }],
    resolve: async () => {
      if (++calls === 2) throw new Error("down");
      return worker;
    },
  };
  const agent = new Agent({
    name: "dev",
    model: script(call("task", { agent: "worker", prompt: "x" }), say("done")),
    subagents: catalog,
  });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const r = await Promise.race([h.sendMessage({ content: "go" }), wait(5000)]);
  assert.ok(r, "hangs");
  await h.close();
});

test("a catalog is listed once per turn, and the prompt follows", async () => {
  let lists = 0;
  const catalog = { list: async () => [{ name: `a${++lists}`, description: "" }], resolve: async () => undefined };
  const model = scriptedBy(() => say("x"));
  const agent = new Agent({ name: "dev", model, subagents: catalog });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  await h.sendMessage({ content: "go" });
  assert.equal(lists, 2);
  assert.match(JSON.stringify(model.requests[1]!.tools), /a2/);
  await h.close();
});

test("an agent that a catalog has changed is judged by its new rules", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  let policy: "allow" | "deny" = "allow";
  const make = () =>
    new Agent({
      name: "worker",
      model: script(call("note", { what: "x" }), say("ok")),
      tools: { note },
      permissions: [{ toolName: "note", policy }],
    });
  const catalog = { list: async () => [{ name: "worker", description: "" }], resolve: async () => make() };
  const model = scriptedBy(({ prompt }) =>
    prompt.at(-1)?.role === "user" ? call("task", { agent: "worker", prompt: "x" }) : say("done"),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: catalog }),
    storage: memoryStore(),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  await h.sendMessage({ content: "go" });
  assert.equal(runs.length, 1);
  policy = "deny";
  await h.sendMessage({ content: "go" });
  assert.equal(runs.length, 1);
  await h.close();
});
