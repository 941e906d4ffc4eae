import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createServer } from "@cinch/server";
import { sqliteStore } from "@cinch/sqlite";
import { call, hang, inTurn, say, script } from "@cinch/testkit";
import { defineTool } from "@cinch/core";
import * as z from "zod";
import { errorOf, serving } from "../../serving.ts";
import { CLIENTS, textOfMessage, until, type AnyMessage } from "./chat-client.ts";

for (const { version, chat } of CLIENTS) {
  test(`useChat of ai ${version}: a server that closes in mid-stream is an error, and the next one resumes the turn`, async () => {
    await using at = await serving({ model: script(hang("Half an answer")) });
    const first = createServer({ harness: at.harness, adapters: ["ai-sdk"] });
    const { url } = await first.listen();
    const client = chat({ url, id: "c" });
    const sent = client.sendMessage({ text: "go" });
    await until(() => client.messages.length === 2 && textOfMessage(client.messages[1]!) === "Half an answer");
    await first.close();
    await sent;
    assert.equal(client.status, "error");
    assert.match(client.error!.message, /Resume/);

    const again = chat({ url: at.url, id: "c", messages: client.messages });
    const resumed = again.resumeStream();
    await until(() => again.status === "streaming");
    assert.deepEqual(again.messages.map(textOfMessage), ["go", "Half an answer"]);
    await at.at.post("/v1/chat/c/stop");
    await resumed;
  });

  test(`useChat of ai ${version}: a message that steers the turn is shown in it`, async () => {
    const steered = Promise.withResolvers<void>();
    const wait = defineTool({
      description: "Waits",
      input: z.object({}),
      execute: () => steered.promise.then(() => "ok"),
    });
    await using at = await serving({ model: script(call("wait"), say("As you like.")), tools: { wait } });
    const client = chat({ url: at.url, id: "c" });
    const sent = client.sendMessage({ text: "go" });
    await until(() => client.messages.length === 2);
    await at.at.post("/v1/threads/c/steer", { content: "Be quick" });
    steered.resolve();
    await sent;
    const part = client.messages[1]!.parts.find(({ type }) => /steering/.test(type))!;
    assert.equal(part.type, version === 7 ? "steering-message" : "data-steering");
    assert.deepEqual(part[version === 7 ? "parts" : "data"], [{ type: "text", text: "Be quick" }]);
    assert.equal(textOfMessage(client.messages[1]!), "As you like.");
  });

  test(`useChat of ai ${version}: an answer that the model begins again is shown once, from version 7 on`, async () => {
    const broken = Object.assign(new Error("overloaded"), { statusCode: 529, isRetryable: true });
    const breaks = async function* () {
      yield { type: "text-start" as const, id: "t" };
      yield { type: "text-delta" as const, id: "t", delta: "Wrong " };
      throw broken;
    };
    await using at = await serving({ model: script(inTurn(breaks, say("Right."))) });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "go" });
    assert.equal(client.status, "ready");
    assert.equal(textOfMessage(client.messages[1]!), version === 7 ? "Right." : "Wrong Right.");
    const stored = await at.at.json<AnyMessage[]>(`/v1/chat/c/messages?v=${version}`);
    assert.equal(textOfMessage(stored[1]!), "Right.");
  });

  test(`useChat of ai ${version}: a conversation longer than the limit of a body can still be posted`, async () => {
    await using at = await serving({ model: script(say("One."), say("Two.")), limits: { bodyBytes: 20_000 } });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "go" });
    client.messages = [...Array.from({ length: 50 }, (_, old) => longMessage(`old-${old}`)), ...client.messages];
    await client.sendMessage({ text: "more" });
    assert.equal(client.error, undefined);
    assert.equal(textOfMessage(client.messages.at(-1)!), "Two.");
    const stored = await at.at.json<AnyMessage[]>("/v1/chat/c/messages");
    assert.deepEqual(stored.map(textOfMessage), ["go", "One.", "more", "Two."]);
  });
}

test("the stream of a queued message that is removed ends, and says that it was removed, also if it is asked for again", async () => {
  await using at = await serving({ model: script(hang("Half an answer")) });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "more" }], content: "more" };
  const chat = () => at.at.post("/v1/chat", { id, messages: [message] });
  const agui = () => at.at.post("/v1/agui", { threadId: id, runId: "r", messages: [{ ...message, id: "m2" }] });
  const [first, second] = [chat(), agui()];
  while ((await at.at.json<unknown[]>(`/v1/threads/${id}/listInbox`)).length < 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  for (const inputId of ["m1", "m2"]) await at.at.post(`/v1/threads/${id}/removeInput`, { inputId });
  for (const [chatted, run] of [
    [await first, await second],
    [await chat(), await agui()],
  ] as const) {
    assert.match(chatted.text, /was removed from the queue.*\[DONE\]/s);
    assert.match(run.text, /was removed from the queue.*RUN_FINISHED/s);
  }
});

test("the stream of a queued message ends when its thread is deleted", async () => {
  await using at = await serving({ model: script(hang("Half an answer")) });
  const { id } = await at.at.thread();
  await at.at.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "more" }], content: "more" };
  const chat = at.at.post("/v1/chat", { id, messages: [message] });
  const run = at.at.post("/v1/agui", { threadId: id, runId: "r", messages: [{ ...message, id: "m2" }] });
  while ((await at.at.json<unknown[]>(`/v1/threads/${id}/listInbox`)).length < 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  await at.at.send("DELETE", `/v1/threads/${id}`);
  assert.match((await chat).text, /was deleted.*\[DONE\]/s);
  assert.match((await run).text, /was deleted.*RUN_FINISHED/s);
});

test("a conversation of any number of values can be posted: only its end is read", async () => {
  await using at = await serving({ model: script(say("One."), say("Two.")) });
  const part = {
    type: "dynamic-tool",
    toolName: "grep",
    state: "output-available",
    input: { all: Array(300).fill(0) },
  };
  const old = (n: number) => ({ id: `old-${n}`, role: n % 2 ? "user" : "assistant", parts: [part] });
  const conversation = Array.from({ length: 400 }, (_, n) => old(n));
  const last = { id: "m1", role: "user", parts: [{ type: "text", text: "go" }] };
  const answer = await at.at.post("/v1/chat", { id: "c", messages: [...conversation, last] });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /One\./);
  const large = { ...last, parts: Array.from({ length: 60_000 }, () => ({ type: "text", text: "" })) };
  assert.equal((await at.at.post("/v1/chat", { id: "c", messages: [large] })).status, 413);
});

test("a message that can't be understood is refused before its thread is created", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const file = { type: "file", mediaType: "text/plain", url: "file:///etc/passwd" };
  const chat = await at.at.post("/v1/chat", { id: "c", messages: [{ id: "m", role: "user", parts: [file] }] });
  assert.deepEqual([chat.status, errorOf(chat).field], [400, "files.0"]);
  for (const [content, field] of [
    [[null], "content.0"],
    [["text"], "content.0"],
    [[{ type: "text", text: "x" }, [], 7], "content.1"],
    [[{ type: "text", text: "x" }, { type: "image" }], "content.1"],
    [[{ type: "text" }], "content.0"],
    [null, "content"],
    [{ text: "x" }, "content"],
  ] as const) {
    const messages = [{ id: "m", role: "user", content }];
    const run = await at.at.post("/v1/agui", { threadId: "c", runId: "r", messages });
    assert.deepEqual([run.status, errorOf(run).field], [400, field], JSON.stringify(content));
  }
  assert.deepEqual(await at.at.json("/v1/threads"), []);
});

const longMessage = (id: string): AnyMessage => ({
  id,
  role: "assistant",
  parts: [{ type: "text", text: "word ".repeat(200), state: "done" }],
});

test("an answer that streams is not kept for an Idempotency-Key: the client gets it while it is written", async () => {
  await using at = await serving({ model: script(hang("Half an answer")) });
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "go" }] };
  const body = JSON.stringify({ id: "c", messages: [message] });
  const headers = { "content-type": "application/json", "idempotency-key": "k" };
  for (const _ of [1, 2]) {
    const stop = new AbortController();
    const response = await fetch(`${at.url}/v1/chat`, { method: "POST", headers, body, signal: stop.signal });
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("Half an answer")) break;
    }
    stop.abort();
  }
  assert.equal((await at.at.json<AnyMessage[]>("/v1/chat/c/messages")).filter(({ role }) => role === "user").length, 1);
});

test("an approval that one server shows is answered at another, and the message goes on there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cinch-chat-"));
  const write = defineTool({ description: "Writes", category: "edit", input: z.object({}), execute: () => "written" });
  const model = script(call("write"), say("Done."));
  const open = () => {
    const storage = sqliteStore({ path: join(folder, "cinch.db") });
    return serving({ model, tools: { write }, harness: { storage, permissions: [] } });
  };
  try {
    await using one = await open();
    await using two = await open();
    const { chat } = CLIENTS[1];
    const client = chat({ url: one.url, id: "c" });
    await client.sendMessage({ text: "go" });
    const moved = chat({ url: two.url, id: "c", messages: client.messages });
    const { approval } = client.messages[1]!.parts.find(({ type }) => type === "dynamic-tool")! as unknown as {
      approval: { id: string };
    };
    await moved.addToolApprovalResponse({ id: approval.id, approved: true });
    await until(() => moved.status === "ready" && textOfMessage(moved.messages[1]!) === "Done.");
    assert.equal(moved.error, undefined);
    // The first server learns of it from the store.
    await one.at.get("/v1/threads/c/settled");
    const stored = await one.at.json<AnyMessage[]>("/v1/chat/c/messages");
    assert.deepEqual(stored.map(textOfMessage), ["go", "Done."]);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});
