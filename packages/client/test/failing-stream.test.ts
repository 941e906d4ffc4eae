import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type ConnectOptions } from "@cinch/client";
import { say, script } from "@cinch/testkit";
import { serving } from "../../server/test/serving.ts";
import { cut } from "./faults.ts";
import { refusal, refusing } from "./refused-streams.ts";

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const cases: [name: string, answer: () => Response, options: Partial<ConnectOptions>][] = [
  ["the server fails", () => refusal(500, "INTERNAL"), {}],
  [
    "the server does not know the token of a function",
    () => refusal(401, "UNAUTHENTICATED"),
    { token: () => "revoked" },
  ],
  ["a proxy refuses it", () => new Response("<h1>Forbidden</h1>", { status: 403 }), {}],
];

for (const [name, answer, options] of cases) {
  test(`a stream that is tried again because ${name} says so once in each outage`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    const { fetch, at: state, refuse } = refusing();
    const client = connect({ url: at.url, fetch, ...options });
    const { id: threadId } = await client.createThread();
    const there = await at.harness.createSession({ threadId });
    const said: string[] = [];
    client.subscribe((event) => void (event.type === "info" && said.push(event.message)));
    for (const outage of [1, 2]) {
      refuse(answer);
      await until(() => said.length >= outage);
      const { refused } = state;
      await until(() => state.refused > refused);
      state.answer = undefined;
      await there.renameThread({ title: `Outage ${outage}` });
      await until(() => client.getDisplayState().title === `Outage ${outage}`);
      assert.equal(said.length, outage, said.join("\n"));
    }
    await client.close();
  });

  test(`a command that the server has done settles, although the stream is tried again because ${name}`, async () => {
    await using at = await serving({ model: script(say("hi")) });
    const { fetch, at: state, refuse } = refusing();
    const client = connect({ url: at.url, fetch, ...options });
    const { id: threadId } = await client.createThread();
    const there = await at.harness.createSession({ threadId });
    refuse(answer);
    await client.renameThread({ title: "Done" });
    assert.equal(there.getDisplayState().title, "Done");
    await until(() => state.refused > 0);
    await client.setState({ n: 1 });
    state.answer = undefined;
    await until(() => client.getDisplayState().title === "Done");
    await client.renameThread({ title: "Shown" });
    assert.equal(client.getDisplayState().title, "Shown", "with a stream, a command waits for the display again");
    await client.close();
  });
}

test("a thread that is deleted while its stream fails is deleted for the caller, too", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { fetch, refuse } = refusing();
  const client = connect({ url: at.url, fetch });
  const { id: threadId } = await client.createThread();
  refuse(() => refusal(500, "INTERNAL"));
  await client.deleteThread({ threadId });
  assert.deepEqual(await at.harness.listThreads(), []);
  await client.close();
});

test("settled and resultOf obey their signal, also while no stream brings what the server has answered", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const { fetch, refuse } = refusing();
  const client = connect({ url: at.url, fetch });
  const { id: threadId } = await client.createThread();
  await client.sendMessage({ id: "input_1", content: "Hi" });
  const there = await at.harness.createSession({ threadId });
  refuse(() => cut());
  await there.renameThread({ title: "Not shown here" });
  const reason = new Error("enough");
  for (const wait of [
    (signal: AbortSignal) => client.settled({ signal }),
    (signal: AbortSignal) => client.resultOf({ inputId: "input_1", signal }),
  ]) {
    const over = new AbortController();
    const waiting = assert.rejects(wait(over.signal), reason);
    setTimeout(() => over.abort(reason), 300);
    await waiting;
  }
  await client.close();
});
