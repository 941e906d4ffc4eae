import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type ToolSet } from "@cinch/core";
import { call, hang, say, script, scriptedBy, type ScriptedModel } from "@cinch/testkit";
import { heldBack, notesOf, outcomesOf, readTools, resultsOf, sessionIn, toolIn, toolNamesIn } from "./requests.ts";

const agent = (name: string, model: ScriptedModel, tools: ToolSet = {}) => new Agent({ name, model, tools });

const background = (...prompts: string[]) =>
  call(...prompts.map((prompt): [string, unknown] => ["task", { agent: "worker", prompt, background: true }]));

type Options = NonNullable<ConstructorParameters<typeof Agent>[0]["subagentBackground"]>;

function play(model: ScriptedModel, worker: ScriptedModel, subagentBackground: Options = true) {
  const storage = memoryStore();
  const dev = new Agent({ name: "dev", model, subagents: [agent("worker", worker)], subagentBackground });
  return { h: new Harness({ id: "t", agent: dev, storage }), storage };
}

test("with subagentBackground, task takes background, and the tools to follow runs are there", async () => {
  const model = script(say("Hello."));
  const { h } = play(model, script(say("never")));
  await h.sendMessage({ content: "go" });
  const { properties, required } = toolIn(model, "task")!;
  assert.deepEqual(
    [Object.keys(properties), required.toSorted()],
    [
      ["agent", "prompt", "background"],
      ["agent", "prompt"],
    ],
  );
  assert.deepEqual(
    toolNamesIn(model).filter((name) => name.startsWith("agent_")),
    ["agent_status", "agent_await", "agent_cancel"],
  );
  assert.deepEqual(toolIn(model, "agent_await")!.properties["mode"]?.enum, ["all", "allSettled", "any", "race"]);
  await h.close();
});

test("a researcher works in the background while a coder works in the foreground, and is awaited then", async () => {
  const research = heldBack(say("Two APIs are deprecated."));
  const coder = agent(
    "coder",
    scriptedBy(() => {
      // The researcher goes on only after the coder has begun.
      research.open();
      return say("Refactored.");
    }),
  );
  const model = script(
    call("task", { agent: "researcher", prompt: "Find deprecated APIs", background: true }),
    call("task", { agent: "coder", prompt: "Refactor the parser" }),
    call("agent_await", { ids: ["bg-1"], mode: "all" }),
    say("Done."),
  );
  const dev = new Agent({
    name: "dev",
    model,
    tools: readTools(),
    subagents: [agent("explore", script(say("never"))), agent("researcher", script(research.step)), coder],
    subagentBackground: true,
  });
  const h = new Harness({ id: "t", agent: dev });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(resultsOf(h.getDisplayState()), [
    '<task_result agent_id="bg-1">\nStarted in the background.\n</task_result>',
    "<task_result>\nRefactored.\n</task_result>",
    'bg-1 (researcher): complete\n<task_result agent_id="bg-1">\nTwo APIs are deprecated.\n</task_result>',
  ]);
  await h.close();
});

test("agent_status shows a run that works and one that has ended, without waiting", async () => {
  const slow = heldBack();
  const worker = scriptedBy(({ prompt }) => (JSON.stringify(prompt).includes("slow") ? slow.step : say("quick")));
  const model = script(
    background("quick"),
    call("agent_await", { ids: ["bg-1"], mode: "all" }),
    background("slow"),
    call("agent_status", { ids: ["bg-1", "bg-2"] }),
    say("Seen."),
  );
  const { h } = play(model, worker, { wake: false });
  await h.sendMessage({ content: "go" });
  assert.equal(
    resultsOf(h.getDisplayState()).at(-1),
    'bg-1 (worker): complete\n<task_result agent_id="bg-1">\nquick\n</task_result>\n\nbg-2 (worker): running',
  );
  slow.open();
  await h.settled();
  await h.close();
});

test("with sessions, a background run has a run id and a session id, each with its own use", async () => {
  const model = scriptedBy(({ prompt }) => {
    const done = prompt.filter(({ role }) => role === "tool").length;
    const id = sessionIn(JSON.stringify(prompt));
    return (
      [
        call("task", { agent: "worker", prompt: "Find it", session: { mode: "new" }, background: true }),
        call("agent_await", { ids: ["bg-1"], mode: "all" }),
        call("task", { agent: "worker", prompt: "More", session: { mode: "resume", id }, background: true }),
        call("agent_await", { ids: ["bg-2"], mode: "all" }),
        call("agent_await", { ids: [id], mode: "all" }),
        call("task", { agent: "worker", prompt: "More", session: { mode: "resume", id: "bg-1" } }),
      ][done] ?? say("Done.")
    );
  });
  const worker = scriptedBy(({ prompt }) => say(`answer ${prompt.filter(({ role }) => role === "user").length}`));
  const dev = new Agent({
    name: "dev",
    model,
    subagents: [agent("worker", worker)],
    subagentSessions: true,
    subagentBackground: true,
  });
  const h = new Harness({ id: "t", agent: dev });
  await h.sendMessage({ content: "go" });
  const outcomes = outcomesOf(h.getDisplayState());
  const id = sessionIn(outcomes[0]!.text);
  assert.deepEqual(
    outcomes.slice(0, 4).map(({ text }) => text),
    [
      `<task_result agent_id="bg-1" session_id="${id}">\nStarted in the background.\n</task_result>`,
      `bg-1 (worker): complete\n<task_result agent_id="bg-1" session_id="${id}">\nanswer 1\n</task_result>`,
      `<task_result agent_id="bg-2" session_id="${id}">\nStarted in the background.\n</task_result>`,
      `bg-2 (worker): complete\n<task_result agent_id="bg-2" session_id="${id}">\nanswer 2\n</task_result>`,
    ],
  );
  assert.deepEqual(outcomes.slice(4), [
    { text: `There is no background subagent "${id}". There are: bg-1, bg-2.`, isError: true },
    { text: `There is no session "bg-1" here. The sessions are: ${id} (worker).`, isError: true },
  ]);
  await h.close();
});

test("the tools and the modes of agent_await are offered as configured", async () => {
  const offered = async (tools: object) => {
    const model = script(say("Hello."));
    const { h } = play(model, script(say("never")), { maxConcurrent: 3, timeout: 120_000, autoCancel: true, tools });
    await h.sendMessage({ content: "go" });
    await h.close();
    const names = toolNamesIn(model).filter((name) => name.startsWith("agent_"));
    return [names, toolIn(model, "agent_await")?.properties["mode"]?.enum];
  };
  const all = ["agent_status", "agent_await", "agent_cancel"];
  const modes = ["all", "allSettled", "any", "race"];
  assert.deepEqual(await offered({ status: true, cancel: true, await: ["all", "race"] }), [all, ["all", "race"]]);
  assert.deepEqual(await offered({}), [all, modes]);
  assert.deepEqual(await offered({ await: true }), [all, modes]);
  assert.deepEqual(await offered({ await: false }), [["agent_status", "agent_cancel"], undefined]);
  assert.deepEqual(await offered({ status: false, cancel: false }), [["agent_await"], modes]);
});

test("at most maxConcurrent runs are at work, and the others begin in their order", async () => {
  const order: string[] = [];
  const all = Promise.withResolvers<void>();
  let [atWork, most] = [0, 0];
  const worker = scriptedBy(({ prompt }) => {
    const [, name] = /"text":"(\w)"/.exec(JSON.stringify(prompt))!;
    return async function* (options) {
      order.push(name!);
      most = Math.max(most, ++atWork);
      await all.promise;
      atWork--;
      yield* say(`${name}`)(options);
    };
  });
  // One call in each answer, so that the order of the journal is known.
  const names = ["a", "b", "c", "d", "e", "f"];
  const ids = names.map((_, at) => `bg-${at + 1}`);
  const model = script(
    ...names.map((name) => background(name)),
    call("agent_await", { ids, mode: "all" }),
    say("Done."),
  );
  const { h } = play(model, worker, { maxConcurrent: 2 });
  h.subscribe((event) => {
    if (event.type === "tool_suspended") all.resolve();
  });
  await h.sendMessage({ content: "go" });
  assert.deepEqual([order, most], [names, 2]);
  await h.close();
});

test("without maxConcurrent there is no limit", async () => {
  const all = Promise.withResolvers<void>();
  let atWork = 0;
  const worker = script(async function* (options) {
    if (++atWork === 12) all.resolve();
    await all.promise;
    yield* say("ready")(options);
  });
  const prompts = Array.from({ length: 12 }, (_, at) => `${at}`);
  const ids = prompts.map((_, at) => `bg-${at + 1}`);
  const model = script(background(...prompts), call("agent_await", { ids, mode: "all" }), say("Done."));
  const { h } = play(model, worker);
  await h.sendMessage({ content: "go" });
  assert.equal(outcomesOf(h.getDisplayState()).at(-1)!.isError, false);
  await h.close();
});

test("a run that is at work for longer than the timeout is cancelled, and the others are not", async () => {
  const worker = scriptedBy(({ prompt }) => (JSON.stringify(prompt).includes("slow") ? hang("…") : say("quick")));
  const model = script(
    background("slow", "quick"),
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "allSettled" }),
    say("Done."),
  );
  const { h } = play(model, worker, { timeout: 300 });
  await h.sendMessage({ content: "go" });
  const text = resultsOf(h.getDisplayState()).at(-1)!;
  assert.deepEqual([...text.matchAll(/^bg-\d \(worker\): (\w+)/gm)].map(([, status]) => status).toSorted(), [
    "complete",
    "timeout",
  ]);
  await h.close();
});

test("close() cancels the runs that are at work, and what they had said is kept", async () => {
  const { h, storage } = play(script(background("a"), say("Started.")), script(hang("Half")));
  const streams = new Promise<void>((resolve) =>
    h.subscribe((event) => event.type === "subagent_text_delta" && resolve()),
  );
  await h.sendMessage({ content: "go" });
  await streams;
  const threadId = h.getCurrentThreadId()!;
  await h.close();
  await storage.open();
  const [child] = await storage.threads({ parentId: threadId });
  const events = await storage.read(child!.id);
  assert.equal(events.find((event) => event.type === "agent_end")?.reason, "aborted");
});

test("an abort of the parent ends its background runs, also those that are queued", async () => {
  const worker = script(hang("…"));
  const model = script(background("a", "b", "c"), call("agent_await", { ids: ["bg-1"], mode: "all" }), say("never"));
  const { h, storage } = play(model, worker, { maxConcurrent: 2 });
  const turn = h.sendMessage({ content: "go" });
  await new Promise<void>((resolve) => h.subscribe((event) => event.type === "tool_suspended" && resolve()));
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  assert.equal((await h.settled()).status, "idle");
  const events = await storage.read(h.getCurrentThreadId()!);
  const ends = events.flatMap((event) => (event.type === "subagent_end" ? [event.isError] : []));
  assert.deepEqual([ends, notesOf(h.getDisplayState())], [[true, true, true], []]);
  assert.deepEqual(
    (await storage.threads()).filter(({ active }) => active),
    [],
  );
  await h.close();
});
