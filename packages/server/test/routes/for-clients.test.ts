import assert from "node:assert/strict";
import { test } from "node:test";
import type { HarnessDisplayState, HarnessEvent } from "@cinch/core";
import { hang, say, script } from "@cinch/testkit";
import { serving } from "../serving.ts";
import { Watching } from "../feeds/watching.ts";

type Control = { modeId: string; grants: unknown[]; rules: unknown[]; state: Record<string, unknown> };

test("the answer to a command or a query says how far the thread is, so that a client can wait for its stream", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { id } = await at.at.thread();
  const renamed = await at.at.post(`/v1/threads/${id}/renameThread`, { title: "x" });
  const { display } = await at.at.json<{ display: HarnessDisplayState }>(`/v1/threads/${id}`);
  assert.equal(renamed.headers["cinch-seq"], String(display.seq));
  const listed = await at.at.get(`/v1/threads/${id}/listInbox`);
  assert.equal(listed.headers["cinch-seq"], String(display.seq));
});

test("events that change the settings of a thread come with the settings after them", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { id } = await at.at.thread();
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events`);
  await at.at.post(`/v1/threads/${id}/grantSessionTool`, { toolName: "note" });
  await watching.until(({ events }) => events.some(({ type }) => type === "grant_added"));
  const controls = watching.events.flatMap((event) => ("control" in event ? (event.control as Control) : []));
  const { control } = await at.at.json<{ control: Control }>(`/v1/threads/${id}`);
  assert.deepEqual(
    watching.events.map((event) => [event.type, "control" in event]),
    [
      ["resync", true],
      ["grant_added", true],
    ],
  );
  assert.deepEqual(controls.at(-1), control);
  assert.deepEqual(control.grants, [{ toolName: "note", policy: "allow" }]);
  const polled = await at.at.with({ accept: "application/json" }).json<HarnessEvent[]>(`/v1/threads/${id}/events`);
  assert.deepEqual((polled[0] as unknown as { control: Control }).control, control);
  watching.close();
});

test("a caller that got 202 asks again with its key, and waits for the same work", async () => {
  await using at = await serving({ model: script(hang("…"), hang("…")) });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await at.at.post(`/v1/threads/${id}/abort`);
  const keyed = at.at.with({ "idempotency-key": "again" });
  assert.equal((await keyed.post(`/v1/threads/${id}/retry?wait=0`)).status, 202);
  const again = keyed.post(`/v1/threads/${id}/retry?wait=20`);
  await at.at.post(`/v1/threads/${id}/abort`);
  const { status, text } = await again;
  assert.deepEqual([status, (JSON.parse(text) as { reason: string }).reason], [200, "aborted"]);
  const events = await at.at.json<HarnessEvent[]>(`/v1/threads/${id}/listEvents`);
  assert.equal(events.filter(({ type }) => type === "agent_start").length, 2, "it was retried once");
});

test("a watcher that has missed nothing gets a byte at once", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { id } = await at.at.thread();
  const { display } = await at.at.json<{ display: HarnessDisplayState }>(`/v1/threads/${id}`);
  const watching = await Watching.open(`${at.url}/v1/threads/${id}/events?since=${display.seq}`);
  await watching.until(({ frames }) => frames.length > 0);
  assert.deepEqual(watching.events, []);
  watching.close();
});

test("a thread can begin with the settings of another one", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/setState`, { color: "red" });
  const made = await at.at.post(`/v1/threads?like=${id}`, { title: "b" });
  const { id: other } = JSON.parse(made.text) as { id: string };
  const { control } = await at.at.json<{ control: Control }>(`/v1/threads/${other}`);
  assert.equal(control.state["color"], "red");
  assert.equal((await at.at.post("/v1/threads?like=none", {})).status, 404);
});

test("the server says what a session without a thread would say", async () => {
  await using at = await serving({ model: script(say("hi")), harness: { resourceId: "team" } });
  const about = await at.at.json<{ resourceId: string; control: Control }>("/v1");
  const session = await at.harness.createSession();
  assert.deepEqual(
    [about.resourceId, about.control.modeId, about.control.rules, about.control.state],
    ["team", session.getCurrentModeId(), session.getPermissionRules(), session.getState()],
  );
});
