import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Place } from "../cli.ts";
import { Editor } from "./editor.ts";

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

test("an editor opens a session, prompts, permits a command, and gets the end of the turn", async () => {
  await using place = new Place();
  await using editor = new Editor(place);
  const { protocolVersion, agentInfo, agentCapabilities } = await editor.initialize();
  assert.equal(protocolVersion, 1);
  assert.equal(agentInfo!.name, "cinch");
  assert.equal(agentCapabilities!.loadSession, true);
  const { sessionId, modes, configOptions } = await editor.agent.request("session/new", {
    cwd: place.folder,
    mcpServers: [],
  });
  assert.equal(modes!.currentModeId, "build");
  assert.deepEqual(
    configOptions!.map(({ id, type }) => [id, type]),
    [
      ["model", "select"],
      ["yolo", "select"],
    ],
  );
  assert.deepEqual(await editor.prompt(sessionId, "say hello"), { stopReason: "end_turn" });
  assert.match(editor.said, /hello/);

  const prompted = editor.prompt(sessionId, "run `echo one > made.txt`");
  await editor.until(() => editor.permissions.length === 1);
  const [permission] = editor.permissions;
  assert.match(permission!.params.toolCall.title!, /execute echo one/);
  assert.equal(permission!.params.toolCall.kind, "execute");
  const kinds = permission!.params.options.map(({ kind }) => kind);
  assert.ok(kinds.includes("allow_once") && kinds.includes("reject_once"), kinds.join());
  permission!.answer(selected("approve"));
  assert.deepEqual(await prompted, { stopReason: "end_turn" });
  assert.equal(readFileSync(join(place.folder, "made.txt"), "utf8"), "one\n");
  const statuses = editor.updates.flatMap((update) =>
    update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update" ? (update.status ?? []) : [],
  );
  assert.deepEqual([...new Set(statuses)], ["pending", "in_progress", "completed"]);
});

test("a declined command is not run", async () => {
  await using place = new Place();
  await using editor = new Editor(place);
  await editor.initialize();
  const { sessionId } = await editor.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  const prompted = editor.prompt(sessionId, "run `echo one > made.txt`");
  await editor.until(() => editor.permissions.length === 1);
  editor.permissions[0]!.answer(selected("decline"));
  assert.deepEqual(await prompted, { stopReason: "end_turn" });
  assert.throws(() => readFileSync(join(place.folder, "made.txt")), /ENOENT/);
});

test("killed between prompt and permission, the agent asks again after load, and the command runs once", async () => {
  await using place = new Place();
  const first = new Editor(place);
  await first.initialize();
  const { sessionId } = await first.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  const lost = first.prompt(sessionId, "run `echo one >> made.txt`").catch(() => "lost");
  await first.until(() => first.permissions.length === 1);
  await first.kill();
  assert.equal(await lost, "lost");

  await using second = new Editor(place);
  await second.initialize();
  const { sessions } = await second.agent.request("session/list", { cwd: place.folder });
  assert.deepEqual(
    sessions.map((one) => [one.sessionId, one.title]),
    [[sessionId, "run `echo one >> made.txt`"]],
  );
  await second.agent.request("session/load", { sessionId, cwd: place.folder, mcpServers: [] });
  const shown = second.updates.flatMap((one) => (one.sessionUpdate === "user_message_chunk" ? [one.content] : []));
  assert.deepEqual(shown, [{ type: "text", text: "run `echo one >> made.txt`" }]);
  await second.until(() => second.permissions.length === 1);
  second.permissions[0]!.answer(selected("approve"));
  await second.until(() =>
    second.updates.some((one) => one.sessionUpdate === "tool_call_update" && one.status === "completed"),
  );
  assert.deepEqual(await second.prompt(sessionId, "say more"), { stopReason: "end_turn" });
  assert.equal(readFileSync(join(place.folder, "made.txt"), "utf8"), "one\n");
});

test("cancel ends the turn and withdraws the permission", async () => {
  await using place = new Place();
  await using editor = new Editor(place);
  await editor.initialize();
  const { sessionId } = await editor.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  const prompted = editor.prompt(sessionId, "run `echo one > made.txt`");
  await editor.until(() => editor.permissions.length === 1);
  const [permission] = editor.permissions;
  await editor.agent.notify("session/cancel", { sessionId });
  assert.deepEqual(await prompted, { stopReason: "cancelled" });
  await editor.until(() => permission!.signal.aborted);
  permission!.answer({ outcome: { outcome: "cancelled" } });
  assert.deepEqual(await editor.prompt(sessionId, "say hello"), { stopReason: "end_turn" });
});

test("a permission that is answered elsewhere is withdrawn, and the turn goes on", async () => {
  await using place = new Place();
  place.trust();
  await using editor = new Editor(place);
  await editor.initialize();
  const { sessionId } = await editor.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  const prompted = editor.prompt(sessionId, "run `echo one > made.txt`");
  await editor.until(() => editor.permissions.length === 1);
  const answered = await place.run(["answer", sessionId, "yes"]);
  assert.equal(answered.code, 0, answered.stderr);
  await editor.until(() => editor.permissions[0]!.signal.aborted);
  assert.deepEqual(await prompted, { stopReason: "end_turn" });
});

test("a question is a form, or else text that the next prompt answers", async () => {
  await using place = new Place();
  await using editor = new Editor(place);
  await editor.initialize({ elicitation: { form: {} } });
  const { sessionId } = await editor.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  const prompted = editor.prompt(sessionId, "ask me which colour I like");
  await editor.until(() => editor.forms.length === 1);
  editor.forms[0]!.answer({ action: "accept", content: { answer: "blue" } });
  assert.deepEqual(await prompted, { stopReason: "end_turn" });
  assert.match(editor.said, /Your answer: blue/);

  await using simple = new Editor(place);
  await simple.initialize();
  const other = await simple.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  assert.deepEqual(await simple.prompt(other.sessionId, "ask me which colour I like"), { stopReason: "end_turn" });
  assert.match(simple.said, /colour/);
  assert.deepEqual(await simple.prompt(other.sessionId, "green"), { stopReason: "end_turn" });
  assert.match(simple.said, /Your answer: green/);
});

test("an edit is shown as a diff, with the path on this machine", async () => {
  await using place = new Place();
  writeFileSync(join(place.folder, "a.txt"), "one\n");
  await using editor = new Editor(place, ["--yolo"]);
  await editor.initialize();
  const { sessionId } = await editor.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  await editor.prompt(sessionId, 'write "two" to b.txt');
  const diffs = editor.updates.flatMap((update) =>
    update.sessionUpdate === "tool_call_update" ? (update.content ?? []).filter(({ type }) => type === "diff") : [],
  );
  assert.equal(diffs.length, 1, JSON.stringify(editor.updates));
  const [diff] = diffs as { path: string; oldText: string; newText: string }[];
  assert.match(diff!.path, /b\.txt$/);
  assert.equal(diff!.newText, "two\n");
});

test("modes and options are set, and a session is closed and deleted", async () => {
  await using place = new Place();
  await using editor = new Editor(place);
  await editor.initialize();
  const { sessionId } = await editor.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  await editor.agent.request("session/set_mode", { sessionId, modeId: "plan" });
  await editor.until(() =>
    editor.updates.some((one) => one.sessionUpdate === "current_mode_update" && one.currentModeId === "plan"),
  );
  const set = await editor.agent.request("session/set_config_option", { sessionId, configId: "yolo", value: "on" });
  assert.equal(set.configOptions.find(({ id }) => id === "yolo")!.currentValue, "on");
  await assert.rejects(
    editor.agent.request("session/set_config_option", { sessionId, configId: "model", value: "nobody/nothing" }),
    /nobody/,
  );
  await editor.agent.request("session/close", { sessionId });
  await assert.rejects(editor.prompt(sessionId, "hi"), /not open/);
  await editor.agent.request("session/resume", { sessionId, cwd: place.folder });
  assert.deepEqual(await editor.prompt(sessionId, "say hello"), { stopReason: "end_turn" });
  await editor.agent.request("session/delete", { sessionId });
  const { sessions } = await editor.agent.request("session/list", { cwd: place.folder });
  assert.deepEqual(sessions, []);
});

test("a folder that is not there, or not absolute, is refused with a sentence", async () => {
  await using place = new Place();
  await using editor = new Editor(place);
  await editor.initialize();
  writeFileSync(join(place.folder, "file.txt"), "");
  for (const cwd of ["relative", join(place.folder, "nowhere"), join(place.folder, "file.txt")])
    await assert.rejects(editor.agent.request("session/new", { cwd, mcpServers: [] }), {
      code: -32602,
      message: /cwd must be the absolute path of a folder/,
    });
});

test("after load, the editor shows the files of a prompt by their names", async () => {
  await using place = new Place();
  await using editor = new Editor(place);
  await editor.initialize();
  const { sessionId } = await editor.agent.request("session/new", { cwd: place.folder, mcpServers: [] });
  const image = { type: "image" as const, mimeType: "image/png", data: "AAAA" };
  await editor.agent.request("session/prompt", { sessionId, prompt: [image] });
  await editor.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "see" }, image] });
  editor.updates.length = 0;
  await editor.agent.request("session/load", { sessionId, cwd: place.folder, mcpServers: [] });
  const shown = editor.updates.flatMap((one) => (one.sessionUpdate === "user_message_chunk" ? [one.content] : []));
  assert.deepEqual(shown, [
    { type: "text", text: "[image/png]" },
    { type: "text", text: "see\n[image/png]" },
  ]);
});
