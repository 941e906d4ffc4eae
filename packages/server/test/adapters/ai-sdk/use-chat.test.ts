import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, type Harness } from "@cinch/core";
import { call, fail, finish, hang, say, script, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";
import { ROLES } from "@cinch/server";
import { authenticate, serving } from "../../serving.ts";
import { CLIENTS, textOfMessage, toolsOf, until, type AnyMessage, type AnyPart } from "./chat-client.ts";

const write = defineTool({
  description: "Writes",
  category: "edit",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `wrote ${path}`,
});

const allowed = { permissions: [{ category: "edit" as const, policy: "allow" as const }] };

const approvalOf = (part: AnyPart) => part["approval"] as { id: string; descriptor: { digest: string } };

for (const { version, chat } of CLIENTS) {
  test(`useChat of ai ${version}: a whole turn with an approval and a question, in one message`, async () => {
    const question = { question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] };
    await using at = await serving({
      model: script(
        say("Hello"),
        call("write", { path: "/a" }, "w1"),
        call("ask_user", question, "q1"),
        say("All done."),
      ),
      tools: { write },
    });
    const client = chat({ url: at.url, id: `chat-${version}` });
    await client.sendMessage({ text: "hi" });
    assert.equal(client.status, "ready");
    assert.equal(textOfMessage(client.messages[1]!), "Hello");

    await client.sendMessage({ text: "write it" });
    assert.equal(client.messages.length, 4);
    const [asked] = toolsOf(client.messages[3]!);
    assert.equal(asked!["state"], "approval-requested");
    assert.deepEqual(asked!["input"], { path: "/a" });
    assert.match(approvalOf(asked!).descriptor.digest, /./);

    await client.addToolApprovalResponse({ id: approvalOf(asked!).id, approved: true });
    await until(() => client.status === "ready" && toolsOf(client.messages[3]!).length === 2);
    const [written, pending] = toolsOf(client.messages[3]!);
    assert.equal(written!["state"], "output-available");
    assert.equal((written!["output"] as { content: string }).content, "wrote /a");
    assert.equal(pending!["state"], "input-available");
    assert.equal(pending!["toolName"], "ask_user");

    await client.addToolOutput({ tool: "ask_user", toolCallId: "q1", output: "blue" });
    await until(() => client.status === "ready" && textOfMessage(client.messages[3]!) === "All done.");
    assert.equal(client.error, undefined);
    assert.equal(client.messages.length, 4);
    assert.deepEqual(
      toolsOf(client.messages[3]!).map(({ state }) => state),
      ["output-available", "output-available"],
    );
    // What a page begins with after a reload is what this one shows.
    const stored = await at.at.json<AnyMessage[]>(`/v1/chat/chat-${version}/messages?v=${version}`);
    assert.deepEqual(
      stored.map(({ id, role }) => [id, role]),
      client.messages.map(({ id, role }) => [id, role]),
    );
    assert.equal(textOfMessage(stored[3]!), "All done.");
  });

  test(`useChat of ai ${version}: a reload in mid-stream shows the whole turn, once`, async () => {
    let more = () => {};
    const waits = new Promise<void>((resolve) => (more = resolve));
    const slow: Step = async function* () {
      yield { type: "text-start", id: "t" };
      yield { type: "text-delta", id: "t", delta: "The first half, " };
      await waits;
      yield { type: "text-delta", id: "t", delta: "and the second." };
      yield { type: "text-end", id: "t" };
      yield finish("stop");
    };
    await using at = await serving({
      model: script(call("write", { path: "/a" }), slow),
      tools: { write },
      harness: allowed,
    });
    const first = chat({ url: at.url, id: "c" });
    const sent = first.sendMessage({ text: "go" });
    await until(() => textOfMessage(first.messages[1] ?? { id: "", role: "", parts: [] }) === "The first half, ");

    const messages = await at.at.json<AnyMessage[]>(`/v1/chat/c/messages?v=${version}`);
    const second = chat({ url: at.url, id: "c", messages });
    const resumed = second.resumeStream();
    await until(() => second.messages.length === 2 && textOfMessage(second.messages[1]!) === "The first half, ");
    more();
    await Promise.all([sent, resumed]);
    assert.deepEqual(second.messages.map(textOfMessage), ["go", "The first half, and the second."]);
    assert.equal(toolsOf(second.messages[1]!).length, 1);
    assert.deepEqual(plain(second.messages), plain(first.messages));
    assert.equal(second.status, "ready");

    await second.resumeStream();
    assert.equal(second.status, "ready");
    assert.equal(second.messages.length, 2);
  });

  test(`useChat of ai ${version}: two tabs answer the same approval, and both show how the turn ends`, async () => {
    await using at = await serving({ model: script(call("write", { path: "/a" }), say("Done.")), tools: { write } });
    const one = chat({ url: at.url, id: "c" });
    await one.sendMessage({ text: "go" });
    const messages = await at.at.json<AnyMessage[]>(`/v1/chat/c/messages?v=${version}`);
    const two = chat({ url: at.url, id: "c", messages });
    await two.resumeStream();
    assert.deepEqual(plain(two.messages), plain(one.messages));
    const [asked] = toolsOf(one.messages[1]!);

    await one.addToolApprovalResponse({ id: approvalOf(asked!).id, approved: true });
    await until(() => textOfMessage(one.messages[1]!) === "Done." && one.status === "ready");
    await two.addToolApprovalResponse({ id: approvalOf(asked!).id, approved: false, reason: "No" });
    await until(() => textOfMessage(two.messages[1]!) === "Done." && two.status === "ready");
    assert.equal(two.error, undefined);
    assert.equal(toolsOf(two.messages[1]!)[0]!["state"], "output-available");
    const { approved } = await journalOf(at.harness, "c");
    assert.equal(approved, 1);
  });

  test(`useChat of ai ${version}: if the caller may not give one of several answers, none is given`, async () => {
    const two = call(["write", { path: "/a" }, "w1"], ["write", { path: "/b" }, "w2"]);
    const mayAnswer = ({ approval }: { approval: { toolCallId: string } }) => approval.toolCallId === "w1";
    await using at = await serving({ model: script(two, say("Done.")), tools: { write }, mayAnswer });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "go" });
    for (const asked of toolsOf(client.messages[1]!))
      await client.addToolApprovalResponse({ id: approvalOf(asked).id, approved: true });
    await until(() => client.status === "error");
    assert.match(client.error!.message, /may not answer/);
    assert.equal((await at.at.json<unknown[]>("/v1/pending")).length, 2);
  });

  test(`useChat of ai ${version}: stop() leaves the turn running, and the stop route ends it`, async () => {
    await using at = await serving({ model: script(hang("Thinking")) });
    const client = chat({ url: at.url, id: "c" });
    const sent = client.sendMessage({ text: "go" });
    await until(() => client.messages.length === 2 && textOfMessage(client.messages[1]!) === "Thinking");
    await client.stop();
    await sent;
    assert.equal(client.status, "ready");
    const resumed = client.resumeStream();
    await until(() => client.status === "streaming");
    const { status } = await at.at.post("/v1/chat/c/stop");
    assert.equal(status, 204);
    await resumed;
    assert.equal(client.status, "ready");
    assert.deepEqual(client.messages.map(textOfMessage), ["go", "Thinking"]);
    assert.equal((client.messages[1]!.metadata as { status: string }).status, "aborted");
    const { status: none } = await at.at.get("/v1/chat/c/stream");
    assert.equal(none, 204);
  });

  test(`useChat of ai ${version}: regenerate rewinds and sends again, and so does an edited message`, async () => {
    let answers = 0;
    await using at = await serving({ model: scriptedBy(() => say(`Answer ${++answers}`)) });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "one" });
    await client.sendMessage({ text: "two" });
    await client.regenerate();
    assert.deepEqual(client.messages.map(textOfMessage), ["one", "Answer 1", "two", "Answer 3"]);
    await client.sendMessage({ text: "edited", messageId: client.messages[0]!.id });
    assert.deepEqual(client.messages.map(textOfMessage), ["edited", "Answer 4"]);
    const stored = await at.at.json<AnyMessage[]>(`/v1/chat/c/messages?v=${version}`);
    assert.deepEqual(stored.map(textOfMessage), ["edited", "Answer 4"]);
    assert.deepEqual(
      stored.map(({ id }) => id),
      client.messages.map(({ id }) => id),
    );
  });

  test(`useChat of ai ${version}: files reach the model, and a reload shows them`, async () => {
    const model = script(say("A picture."));
    await using at = await serving({ model });
    const client = chat({ url: at.url, id: "c" });
    const data = Buffer.from("a picture").toString("base64");
    const file = {
      type: "file" as const,
      mediaType: "image/png",
      filename: "a.png",
      url: `data:image/png;base64,${data}`,
    };
    await client.sendMessage({ text: "what is it?", files: [file] });
    const { content } = model.requests[0]!.prompt.findLast(({ role }) => role === "user")!;
    const [sent] = (content as unknown as AnyPart[]).filter(({ type }) => type === "file");
    assert.equal(sent!["mediaType"], "image/png");
    const [user] = await at.at.json<AnyMessage[]>(`/v1/chat/c/messages?v=${version}`);
    const shown = user!.parts.find(({ type }) => type === "file")!;
    assert.equal(shown["filename"], "a.png");
    assert.equal((await at.at.get(String(shown["url"]))).text, "a picture");
  });

  test(`useChat of ai ${version}: a declined call ends the turn, and the client sends nothing by itself`, async () => {
    await using at = await serving({ model: script(call("write", { path: "/a" })), tools: { write } });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "go" });
    const [asked] = toolsOf(client.messages[1]!);
    await client.addToolApprovalResponse({ id: approvalOf(asked!).id, approved: false });
    await until(() => client.status === "ready" && toolsOf(client.messages[1]!)[0]!["state"] === "output-denied");
    assert.equal((client.messages[1]!.metadata as { status: string }).status, "declined");
  });

  test(`useChat of ai ${version}: a turn that ends with its calls is not sent again and again`, async () => {
    let posts = 0;
    const model = scriptedBy(() => call("write", { path: "/a" }));
    await using at = await serving({
      model,
      harness: { ...allowed, agent: new Agent({ name: "tester", model, tools: { write }, maxSteps: 1 }) },
      authenticate: ({ method }) => {
        if (method === "POST") posts += 1;
        return { may: ROLES };
      },
    });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "go" });
    assert.equal(client.status, "ready");
    assert.equal(toolsOf(client.messages[1]!)[0]!["state"], "output-available");
    await client.sendMessage();
    assert.equal(client.status, "ready");
    assert.equal(posts, 2);
  });

  test(`useChat of ai ${version}: a failed turn is an error of the chat, and the next message goes on`, async () => {
    let asked = 0;
    const failure = Object.assign(new Error("No such key"), { statusCode: 401, isRetryable: false });
    await using at = await serving({ model: scriptedBy(() => (asked++ === 0 ? fail(failure) : say("Better."))) });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "go" });
    assert.equal(client.status, "error");
    assert.match(client.error!.message, /No such key/);
    await client.sendMessage({ text: "again" });
    assert.equal(textOfMessage(client.messages.at(-1)!), "Better.");
    assert.equal(client.status, "ready");
  });

  test(`useChat of ai ${version}: a message while an approval waits is queued, and taken after the answer`, async () => {
    const answers = [call("write", { path: "/a" }, "w1"), say("Wrote."), say("Second.")];
    await using at = await serving({ model: script(...answers), tools: { write } });
    const notices: string[] = [];
    const onData = ({ type, data }: AnyPart) =>
      type === "data-notice" && notices.push((data as { message: string }).message);
    const client = chat({ url: at.url, id: "c", onData });
    await client.sendMessage({ text: "go" });
    await client.sendMessage({ text: "and then?" });
    assert.equal(client.status, "ready");
    assert.match(notices.join(), /queued/);
    const [asked] = toolsOf(client.messages[1]!);
    await client.addToolApprovalResponse({ id: approvalOf(asked!).id, approved: true });
    await client.sendMessage();
    await until(() => client.status === "ready");
    assert.deepEqual(client.messages.map(textOfMessage), ["go", "Wrote.", "and then?"]);
    await at.at.get("/v1/threads/c/settled");
    const stored = await at.at.json<AnyMessage[]>(`/v1/chat/c/messages?v=${version}`);
    assert.deepEqual(stored.map(textOfMessage), ["go", "Wrote.", "and then?", "Second."]);
  });

  test(`useChat of ai ${version}: an approval of a subagent is answered in the chat`, async () => {
    const helper = new Agent({
      name: "helper",
      description: "Helps",
      model: script(call("write", { path: "/a" }, "w1"), say("Written.")),
      tools: { write },
    });
    const model = script(call("task", { agent: "helper", prompt: "Write a" }, "t1"), say("The helper did it."));
    const agent = new Agent({ name: "tester", model, subagents: [helper] });
    await using at = await serving({ model, harness: { agent } });
    const client = chat({ url: at.url, id: "c" });
    await client.sendMessage({ text: "go" });
    const asked = toolsOf(client.messages[1]!).find(({ state }) => state === "approval-requested")!;
    assert.equal(asked["toolName"], "write");
    await client.addToolApprovalResponse({ id: approvalOf(asked).id, approved: true });
    await client.sendMessage();
    await until(() => client.status === "ready" && textOfMessage(client.messages[1]!) === "The helper did it.");
    assert.deepEqual(
      toolsOf(client.messages[1]!).map(({ state }) => state),
      ["output-available", "output-available"],
    );
  });
}

test("a caller that may only talk sends, but neither approves nor regenerates; one that may only read resumes", async () => {
  await using at = await serving({
    model: script(call("write", { path: "/a" }), say("Done.")),
    tools: { write },
    authenticate: (request) => {
      const role = request.headers.get("authorization")?.replace("Bearer ", "");
      return { may: role === "talk" ? ["read", "talk"] : ["read"], by: role ?? "" };
    },
  });
  const { chat } = CLIENTS[1];
  const talker = chat({ url: at.url, id: "c", token: "talk" });
  await talker.sendMessage({ text: "go" });
  const [asked] = toolsOf(talker.messages[1]!);
  assert.equal(asked!["state"], "approval-requested");
  await talker.addToolApprovalResponse({ id: approvalOf(asked!).id, approved: true });
  await until(() => talker.status === "error");
  assert.match(talker.error!.message, /approve/);
  await talker.regenerate();
  assert.match(talker.error!.message, /manage/);
  const reader = chat({ url: at.url, id: "c", token: "read" });
  await reader.resumeStream();
  assert.equal(toolsOf(reader.messages[0]!)[0]!["state"], "approval-requested");
  await reader.sendMessage({ text: "me too" });
  assert.match(reader.error!.message, /talk/);
});

test("a chat with the id of another resource's thread is refused, and shows nothing of it", async () => {
  await using at = await serving({ model: script(say("Secret.")), authenticate });
  const { chat } = CLIENTS[1];
  const ann = chat({ url: at.url, id: "c", token: "ann-token" });
  await ann.sendMessage({ text: "hi" });
  const cat = chat({ url: at.url, id: "c", token: "cat-token" });
  await cat.resumeStream();
  assert.deepEqual(cat.messages, []);
  await cat.sendMessage({ text: "hi" });
  assert.match(cat.error!.message, /THREAD_EXISTS/);
  const { text } = await at.at.as("cat-token").get("/v1/chat/c/messages");
  assert.equal(text, "[]");
});

test("a server without the adapter has none of its routes", async () => {
  await using at = await serving({ model: script(say("hi")), adapters: [] });
  assert.equal((await at.at.post("/v1/chat", { id: "c", messages: [] })).status, 404);
  assert.equal((await at.at.get("/v1/chat/c/stream")).status, 404);
  const { paths } = await at.at.json<{ paths: Record<string, unknown> }>("/v1/openapi.json");
  assert.equal(
    Object.keys(paths).some((path) => path.startsWith("/v1/chat")),
    false,
  );
});

/** As JSON: the client leaves fields that are undefined. `rawInput` is there only if the arguments streamed. */
const plain = (messages: AnyMessage[]): unknown =>
  JSON.parse(JSON.stringify(messages, (key, value: unknown) => (key === "rawInput" ? undefined : value)));

async function journalOf(harness: Harness, threadId: string): Promise<{ approved: number }> {
  const session = await harness.createSession({ threadId });
  const events = await session.listEvents({ limit: 1_000 });
  await session.close();
  return { approved: events.filter(({ type }) => type === "tool_approval_resolved").length };
}
