import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type HarnessMessage } from "@cinch/core";
import { call, hang, say, scriptedBy } from "@cinch/testkit";

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

/** Answers with the number of the user messages that it sees. */
const counting = () =>
  scriptedBy(({ prompt }) => say(`message ${prompt.filter(({ role }) => role === "user").length}`));

const idIn = (text: string) => /session_id=\\?"(sub_\w+)\\?"/.exec(text)?.[1] ?? "";

test("a session is started, resumed and forked, and the fork leaves the original alone", async () => {
  const researcher = new Agent({ name: "researcher", description: "Researches", model: counting(), tools: {} });
  const ask = (mode: string, id?: string) =>
    call("task", { agent: "researcher", prompt: `${mode} it`, session: { mode, ...(id ? { id } : {}) } });
  const model = scriptedBy(({ prompt }) => {
    const done = prompt.filter(({ role }) => role === "tool").length;
    const id = idIn(JSON.stringify(prompt));
    return (
      [ask("new"), ask("resume", id), ask("fork", id), ask("resume", id), ask("resume", "sub_none")][done] ??
      say("Done.")
    );
  });
  const agent = new Agent({ name: "dev", model, subagents: [researcher], subagentSessions: true });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  const texts = results(h.getDisplayState().messages);
  const id = idIn(texts[0]!);
  const said = texts.map((text) => text.split("\n")[1] ?? text);
  assert.deepEqual(said.slice(0, 4), ["message 1", "message 2", "message 3", "message 3"]);
  assert.equal(texts[1], `<task_result session_id="${id}">\nmessage 2\n</task_result>`);
  assert.notEqual(idIn(texts[2]!), id);
  assert.match(texts[4]!, /There is no session "sub_none" here\. The sessions are: sub_/);
  await h.close();
});

test("the timeout of a session that is resumed in the background holds, also if its model says nothing at all", async () => {
  const researching = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("again") ? hang("") : say("Found."),
  );
  const researcher = new Agent({ name: "researcher", model: researching, tools: {} });
  const ask = (prompt: string, more: object) => call("task", { agent: "researcher", prompt, ...more });
  const model = scriptedBy(({ prompt }) => {
    const id = idIn(JSON.stringify(prompt));
    const steps = [
      ask("Look", { session: { mode: "new" } }),
      ask("Look again", { background: true, session: { mode: "resume", id } }),
    ];
    return steps[prompt.filter(({ role }) => role === "tool").length] ?? say("Done.");
  });
  const subagentBackground = { timeout: 100 };
  const agent = new Agent({ name: "dev", model, subagents: [researcher], subagentSessions: true, subagentBackground });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const ended = new Promise<string>((resolve) =>
    h.subscribe((event) => event.type === "background_settled" && resolve(event.status)),
  );
  await h.sendMessage({ content: "go" });
  assert.equal(await ended, "timeout");
  await h.close();
});
