import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { say, scriptedBy } from "@cinch/testkit";
import { serving } from "../serving.ts";

/** Sends a form in pieces, as a slow line does, and says the status of the answer. */
async function sendSlowly(url: string, bytes: Uint8Array, headers: Record<string, string>): Promise<number> {
  const answered = Promise.withResolvers<number>();
  const sent = request(url, { method: "POST", headers, agent: false }, (answer) => {
    answer.resume();
    answered.resolve(answer.statusCode!);
  });
  sent.on("error", answered.reject);
  answered.promise.catch(() => undefined);
  const pieces = 30;
  for (let n = 0; n < pieces; n++) {
    sent.write(bytes.subarray((n * bytes.length) / pieces, ((n + 1) * bytes.length) / pieces));
    await delay(100);
  }
  sent.end();
  return answered.promise;
}

test("a message with files has the time that its length needs on a slow line, if it says its length", async () => {
  await using at = await serving({ model: scriptedBy(() => say("Seen.")), limits: { requestMs: 1_000 } });
  const { id } = await at.at.thread();
  const form = new FormData();
  form.set("body", JSON.stringify({ content: "look", delivery: "send" }));
  form.set("files", new Blob([new Uint8Array(600_000)], { type: "image/png" }), "a.png");
  const response = new Response(form);
  const type = { "content-type": response.headers.get("content-type")! };
  const bytes = new Uint8Array(await response.arrayBuffer());
  const url = `${at.url}/v1/threads/${id}/post`;
  assert.equal(await sendSlowly(url, bytes, { ...type, "content-length": String(bytes.length) }), 200);
  assert.equal(await sendSlowly(url, bytes, type), 408);
});

test("a chat message with a file in its JSON has the time that its length needs, too", async () => {
  await using at = await serving({ model: scriptedBy(() => say("Seen.")), limits: { requestMs: 1_000 } });
  const file = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${"A".repeat(600_000)}` };
  const message = { id: "message_1", role: "user", parts: [{ type: "text", text: "look" }, file] };
  const bytes = Buffer.from(JSON.stringify({ id: "thread_1", messages: [message] }));
  const headers = { "content-type": "application/json", "content-length": String(bytes.length) };
  assert.equal(await sendSlowly(`${at.url}/v1/chat`, bytes, headers), 200);
});
