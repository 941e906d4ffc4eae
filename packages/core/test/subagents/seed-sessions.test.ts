import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, scriptedBy, type Step } from "@cinch/testkit";
import { heldBack, outcomesOf, resultsOf, sessionIn, toolIn } from "./requests.ts";

type Session = { mode: string; id?: string };
type Ask = { prompt: string; session?: Session; background?: boolean };

/** Answers with all that it was asked in its conversation. */
const remembering = () =>
  scriptedBy(({ prompt }) => {
    const asked = prompt.flatMap((message) =>
      message.role === "user" ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
    );
    return say(asked.join(" | "));
  });

/** Calls `task` once for each, with the id that the earlier results gave. The last answer is a text. */
const delegating = (...asks: ((id: string) => Ask | Ask[] | Step)[]) =>
  scriptedBy(({ prompt }) => {
    const step = asks[prompt.filter(({ role }) => role === "assistant").length];
    const given = step?.(sessionIn(JSON.stringify(prompt)));
    if (given === undefined) return say("Done.");
    if (typeof given === "function") return given;
    return call(...[given].flat().map((ask): [string, unknown] => ["task", { agent: "researcher", ...ask }]));
  });

function play(
  model: ReturnType<typeof delegating>,
  { researcher = remembering(), storage = memoryStore(), ...more }: Partial<Options> = {},
) {
  const agent = new Agent({
    name: "dev",
    model,
    subagents: [new Agent({ name: "researcher", model: researcher, tools: {} })],
    subagentSessions: { defaultMode: "stateless" },
    ...more,
  });
  return new Harness({ id: "t", agent, storage });
}
interface Options extends Pick<ConstructorParameters<typeof Agent>[0], "subagentSessions" | "subagentBackground"> {
  researcher: ReturnType<typeof scriptedBy>;
  storage: MemoryStore;
}

const report = (text: string, id?: string) =>
  `<task_result${id === undefined ? "" : ` session_id="${id}"`}>\n${text}\n</task_result>`;

test("with subagentSessions, task takes a session of four modes, and none is needed", async () => {
  const model = delegating(() => ({ prompt: "Find auth" }));
  const h = play(model);
  await h.sendMessage({ content: "go" });
  const { properties, required } = toolIn(model, "task")!;
  assert.deepEqual(
    [Object.keys(properties), required.toSorted()],
    [
      ["agent", "prompt", "session"],
      ["agent", "prompt"],
    ],
  );
  assert.match(JSON.stringify(properties["session"]), /"enum":\["stateless","new","resume","fork"\]/);
  await h.close();
});

test("the transcripts of sessions are threads, so that stores for them are not configured", () => {
  const make = (subagentSessions: object) => () => new Agent({ name: "dev", subagentSessions });
  for (const key of ["messages", "metadata", "sessionOptions"])
    assert.throws(make({ [key]: {} }), { code: "INVALID_CONFIG", message: new RegExp(key) });
});

test("new returns a session id, resume continues its history, and fork continues a copy under another id", async () => {
  const model = delegating(
    () => ({ prompt: "Find auth", session: { mode: "new" } }),
    (id) => ({ prompt: "What was it?", session: { mode: "resume", id } }),
    (id) => ({ prompt: "Try another way", session: { mode: "fork", id } }),
  );
  const h = play(model);
  await h.sendMessage({ content: "go" });
  const results = resultsOf(h.getDisplayState());
  const [id, forked] = [sessionIn(results[0]!), sessionIn(results[2]!)];
  assert.deepEqual(results, [
    report("Find auth", id),
    report("Find auth | What was it?", id),
    report("Find auth | What was it? | Try another way", forked),
  ]);
  assert.notEqual(id, forked);
  const original = await h.createSession({ threadId: id });
  assert.doesNotMatch(JSON.stringify(original.getDisplayState().messages), /another way/);
  await h.close();
});

test("a stateless call has no session id, and its thread can't be resumed", async () => {
  const model = delegating(
    () => ({ prompt: "Find auth", session: { mode: "stateless" } }),
    () => ({ prompt: "again", session: { mode: "resume", id: childId } }),
  );
  let childId = "";
  const storage = memoryStore();
  const h = play(model, { storage });
  h.subscribe((event) => {
    if (event.type === "subagent_start") childId = event.childThreadId;
  });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(outcomesOf(h.getDisplayState()), [
    { text: report("Find auth"), isError: false },
    { text: `There is no session "${childId}" here.`, isError: true },
  ]);
  await h.close();
});

test("with defaultMode new, a call without a session begins one", async () => {
  const model = delegating(
    () => ({ prompt: "Find auth" }),
    (id) => ({ prompt: "What was it?", session: { mode: "resume", id } }),
    () => ({ prompt: "Alone", session: { mode: "stateless" } }),
  );
  const h = play(model, { subagentSessions: { defaultMode: "new" } });
  await h.sendMessage({ content: "go" });
  const results = resultsOf(h.getDisplayState());
  const id = sessionIn(results[0]!);
  assert.deepEqual(results, [report("Find auth", id), report("Find auth | What was it?", id), report("Alone")]);
  await h.close();
});

test("to resume or to fork a session that is running fails at once, and its history stays its own", async () => {
  const slow = heldBack(say("Found."));
  const model = delegating(
    () => ({ prompt: "Find auth", session: { mode: "new" }, background: true }),
    (id) => [
      { prompt: "And now?", session: { mode: "resume", id } },
      { prompt: "Otherwise?", session: { mode: "fork", id } },
    ],
    (id) => {
      slow.open();
      return call("agent_await", { ids: ["bg-1"], mode: "all" }, id);
    },
    (id) => ({ prompt: "And now?", session: { mode: "resume", id } }),
  );
  const researcher = scriptedBy(({ prompt }) =>
    prompt.some(({ role }) => role === "assistant") ? say("Still the same.") : slow.step,
  );
  const h = play(model, { researcher, subagentBackground: true });
  await h.sendMessage({ content: "go" });
  const outcomes = outcomesOf(h.getDisplayState());
  const id = sessionIn(outcomes[0]!.text);
  const busy = { text: `Session "${id}" is running. Wait for its end first.`, isError: true };
  assert.deepEqual(outcomes.slice(1, 3), [busy, busy]);
  assert.deepEqual(outcomes[4], { text: report("Still the same.", id), isError: false });
  assert.equal(researcher.requests.length, 2);
  await h.close();
});

test("of two calls in one answer that resume the same session, one fails while the other works", async () => {
  const model = delegating(
    () => ({ prompt: "Find auth", session: { mode: "new" } }),
    (id) => [
      { prompt: "first", session: { mode: "resume", id } },
      { prompt: "second", session: { mode: "resume", id } },
    ],
  );
  const slow = heldBack(say("Found more."));
  const researcher = scriptedBy(({ prompt }) =>
    prompt.some(({ role }) => role === "assistant") ? slow.step : say("Found."),
  );
  const h = play(model, { researcher });
  h.subscribe((event) => {
    if (event.type === "subagent_end" && event.isError) slow.open();
    if (event.type === "tool_end" && event.isError) slow.open();
  });
  await h.sendMessage({ content: "go" });
  const [, ...both] = outcomesOf(h.getDisplayState()).toSorted((a, b) => Number(a.isError) - Number(b.isError));
  assert.deepEqual(
    both.map(({ isError }) => isError),
    [false, true],
  );
  assert.match(both[1]!.text, /is running|is busy/);
  assert.equal(researcher.requests.length, 2);
  await h.close();
});

test("a session can be resumed by another process, after the first one died", async () => {
  const data = new MemoryData();
  const make = (storage: MemoryStore) =>
    play(
      delegating(
        () => ({ prompt: "Find auth", session: { mode: "new" } }),
        () => say("Found."),
        (id) => ({ prompt: "What was it?", session: { mode: "resume", id } }),
      ),
      { storage },
    );
  const dying = new MemoryStore(data);
  const first = make(dying);
  await first.sendMessage({ content: "go" });
  dying.die();
  const h = make(new MemoryStore(data));
  const session = await h.createSession({ threadId: first.getCurrentThreadId()! });
  await session.sendMessage({ content: "on" });
  const results = resultsOf(session.getDisplayState());
  assert.equal(results[1], report("Find auth | What was it?", sessionIn(results[0]!)));
  await h.close();
});
