import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, Harness, memoryStore } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";

const refused = (code: string, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CinchError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, says);
  return true;
};
const agent = new Agent({ name: "a", model: script(say("hi")) });

test("a value that is not a store, workspace or clock is refused, and the error says what to give", () => {
  const made = (config: object) => () => new Harness({ id: "x", agent, ...config } as never);
  const store = /must be a store: sqliteStore\(\{ path: "cinch\.db" \}\).*memoryStore\(\).*storage/s;
  for (const storage of [{ path: "x.db" }, "x.db", {}, null, () => 1])
    assert.throws(made({ storage }), refused("INVALID_CONFIG", store));
  const half = Object.create(memoryStore(), { follow: { value: undefined } }) as object;
  assert.throws(made({ storage: half }), refused("INVALID_CONFIG", /this one lacks follow/));
  for (const workspace of [{ root: "." }, ".", {}])
    assert.throws(made({ workspace }), refused("INVALID_CONFIG", /localWorkspace\(\{ root \}\)/));
  for (const clock of [{}, { now: () => 1 }])
    assert.throws(made({ clock }), refused("INVALID_CONFIG", /now\(\) and after\(\)/));
});

test("a value that is not a model is refused, and the error says what a model is", () => {
  const says = /must be a language model of the AI SDK, such as .*, or a string for resolveModel.*model/s;
  for (const model of [{}, "", 5, null, () => 1, { modelId: "x" }]) {
    assert.throws(() => new Agent({ name: "a", model: model as never }), refused("INVALID_CONFIG", says));
    const modes = [{ id: "m", agent, model: model as never }];
    assert.throws(() => new Harness({ id: "x", modes }), refused("INVALID_CONFIG", says));
  }
  assert.throws(
    () => new Agent({ name: "a", instructions: 5 as never }),
    refused("INVALID_CONFIG", /a string, or a function that returns one/),
  );
});

test("a wrong option of subagents is refused, and the error names its key and what it takes", () => {
  const made = (config: object) => () => new Agent({ name: "a", ...config } as never);
  const wrong: [object, RegExp][] = [
    [{ subagentBackground: { timeout: "2m" } }, /must be a number of milliseconds.*at subagentBackground\.timeout$/s],
    [{ subagentBackground: { maxConcurrent: 0 } }, /must be a whole number.*at subagentBackground\.maxConcurrent$/s],
    [{ subagentBackground: { maxConcurent: 2 } }, /Unknown key "maxConcurent".*maxConcurrent.*at subagentBackground$/s],
    [
      { subagentBackground: { tools: { await: ["foo"] } } },
      /"all"\|"allSettled".*at subagentBackground\.tools\.await\[0\]$/s,
    ],
    [
      { subagentBackground: { tools: { await: "all" } } },
      /a list of.*all, allSettled.*at subagentBackground\.tools\.await$/s,
    ],
    [{ subagentBackground: "yes" }, /true, false or an object.*maxConcurrent, timeout.*at subagentBackground$/s],
    [{ subagentSessions: { defaultMode: "resume" } }, /"stateless"\|"new".*at subagentSessions\.defaultMode$/s],
    [{ subagentSessions: 1 }, /true, false or an object.*defaultMode.*at subagentSessions$/s],
  ];
  for (const [config, says] of wrong) assert.throws(made(config), refused("INVALID_CONFIG", says));
});

test("maxConcurrent: Infinity means no limit", () => {
  const { subagentBackground } = new Agent({ name: "a", subagentBackground: { maxConcurrent: Infinity } });
  assert.equal(subagentBackground?.maxConcurrent, Infinity);
});

test("a state that is not JSON is refused, the error names the part, and nothing is changed", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await h.setState({ kept: 1 });
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const wrong: [unknown, RegExp][] = [
    [cycle, /"self\.self".*cycle.*ids/s],
    [{ plan: { step: cycle } }, /"plan\.step\.self".*cycle/s],
    [{ total: 10n }, /"total" is a BigInt/],
    [{ users: new Map() }, /"users" is a Map/],
    [{ at: new Date("never") }, /"at" is an invalid Date/],
  ];
  for (const [updates, says] of wrong) {
    await assert.rejects(h.setState(updates as Record<string, unknown>), refused("INVALID_INPUT", says));
    await assert.rejects(
      h.setState(updates as Record<string, unknown>),
      /^CinchError: setState .* the state was not changed/,
    );
    const config = { id: "x", agent, initialState: updates as Record<string, unknown> };
    assert.throws(() => new Harness(config), refused("INVALID_CONFIG", says));
  }
  assert.deepEqual(h.getState(), { kept: 1, yolo: false });
});

test("a limit of 1.5 is refused, and the error says what a limit is", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await assert.rejects(
    h.listThreads({ limit: 1.5 }),
    refused("INVALID_INPUT", /listThreads\(\).*whole number from 1.*limit/s),
  );
});

test("instructions that throw end the turn with INVALID_CONFIG, and the next turn may succeed", async () => {
  let broken: (() => never) | null = () => {
    throw new Error("no such file");
  };
  const instructions = () => broken?.() ?? "Test.";
  const model = script(say("hi"));
  await using h = await harness({ model, agent: new Agent({ name: "writer", model, instructions }) });
  const { reason, error } = await h.sendMessage({ content: "go" });
  assert.equal(reason, "error");
  assert.equal(error?.code, "INVALID_CONFIG");
  assert.match(error.message, /instructions of agent "writer" threw: no such file\. Fix the function/);
  broken = null;
  assert.equal((await h.sendMessage({ content: "again" })).reason, "complete");
});

test("instructions that return no string end the turn with INVALID_CONFIG too", async () => {
  const model = script(say("hi"));
  const instructions = (() => undefined) as never;
  await using h = await harness({ model, agent: new Agent({ name: "writer", model, instructions }) });
  const { error } = await h.sendMessage({ content: "go" });
  assert.equal(error?.code, "INVALID_CONFIG");
  assert.match(error.message, /returned undefined, not a string/);
});

test("a value that is not an object is refused, and the error lists the keys", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await assert.rejects(h.sendMessage("hello" as never), /sendMessage\(\).*object with the keys content, files, id/s);
  assert.throws(() => new Harness("x" as never), /Harness.*object with the keys id, storage, agent/s);
  assert.throws(() => new Agent(undefined as never), /Agent.*object with the keys name, description/s);
});

test("an interruptOn that is neither a boolean nor a condition is refused, and the error says what it may be", () => {
  const wrong: [unknown, RegExp][] = [
    ["always", /true, false, or an object with at most when.*at interruptOn\.deploy$/s],
    [{ when: 5 }, /must be a function.*at interruptOn\.deploy\.when$/s],
    [{ if: () => true }, /Unknown key "if".*at interruptOn\.deploy$/s],
    [{ decisions: ["yes"] }, /"approve"\|.*at interruptOn\.deploy\.decisions\[0\]$/s],
  ];
  for (const [deploy, says] of wrong)
    assert.throws(
      () => new Harness({ id: "x", agent, interruptOn: { deploy } as never }),
      refused("INVALID_CONFIG", says),
    );
});

test("an initialState with a key that the stateSchema lacks is refused, and not dropped silently", () => {
  const stateSchema = z.object({ project: z.string() });
  assert.throws(
    () => new Harness({ id: "x", agent, stateSchema, initialState: { project: "a", proyect: "b" } as never }),
    refused("INVALID_CONFIG", /has no key "proyect": did you mean "project"\?/),
  );
  assert.throws(
    () => new Harness({ id: "x", agent, stateSchema: { project: z.string() } as never }),
    refused("INVALID_CONFIG", /z\.object\(\{ … \}\)/),
  );
});

test("memoryStore refuses a path", () => {
  for (const data of ["x.db", {}, null])
    assert.throws(() => memoryStore(data as never), refused("INVALID_CONFIG", /sqliteStore\(\{ path/));
});

test("every method of a closed harness rejects with CLOSED", async () => {
  const h = new Harness({ id: "x", agent });
  await h.init();
  const session = await h.createSession();
  await h.close();
  const closed = refused("CLOSED", /new harness on the store/);
  await assert.rejects(h.init(), closed);
  await assert.rejects(h.createSession(), closed);
  await assert.rejects(h.pendingApprovals(), closed);
  await assert.rejects(h.sendMessage({ content: "x" }), closed);
  await assert.rejects(session.createThread(), closed);
  await h.close();
});

test("a resolveModel that returns no model fails the turn, and refuses the switch, with an error that says so", async () => {
  const says = /resolveModel returned no model of the AI SDK for "m"/;
  for (const answer of [undefined, null, "gpt", {}]) {
    const resolveModel = async () => answer as never;
    await using h = await harness({ model: script(say("hi")), resolveModel });
    await assert.rejects(h.switchModel({ modelId: "m" }), refused("INVALID_INPUT", says));
    const named = new Harness({ id: "x", agent: new Agent({ name: "a", model: "m" }), resolveModel });
    const { reason, error } = await named.sendMessage({ content: "x" });
    assert.deepEqual([reason, error?.code], ["error", "INVALID_CONFIG"]);
    assert.match(error!.message, says);
    await named.close();
  }
});
