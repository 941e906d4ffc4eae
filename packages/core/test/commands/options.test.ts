import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, Harness, memoryStore, type Session } from "@cinch/core";
import type { optionsSchema } from "@cinch/core/options";
import { MemoryData } from "@cinch/core/store";
import { say, script, scriptedBy } from "@cinch/testkit";
import { harness } from "../support.ts";

type Call = (...args: unknown[]) => unknown;

type Taking<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => unknown ? (A extends [] ? never : K) : never;
}[keyof T];

/** The methods that take something, and all that have a schema: the compiler says which one a table below lacks. */
type Method = Taking<Harness> | Taking<Session> | Parameters<typeof optionsSchema>[0];

/** The keys of `setState` are those of its `stateSchema`, and `push` is for the harness. */
type WithoutKeys = "setState" | "push";

type Options = { least: object | undefined; misspelt: [string, string] };

/** Throw at once. The listener of `subscribe` comes before its options. */
const AT_ONCE = {
  subscribe: { least: undefined, misspelt: ["sinse", "since"] },
  events: { least: undefined, misspelt: ["signl", "signal"] },
  once: { least: { commandId: "c" }, misspelt: ["commandID", "commandId"] },
  setBudget: { least: undefined, misspelt: ["step", "steps"] },
} satisfies Partial<Record<Method, Options>>;

/** For each method: the required options, a misspelt key, and the right key. */
const METHODS: Record<Exclude<Method, keyof typeof AT_ONCE | WithoutKeys>, Options> = {
  sendMessage: { least: { content: "x" }, misspelt: ["file", "files"] },
  post: { least: { content: "x", delivery: "send" }, misspelt: ["delivry", "delivery"] },
  steer: { least: { content: "x" }, misspelt: ["contents", "content"] },
  followUp: { least: { content: "x" }, misspelt: ["contnet", "content"] },
  editInput: { least: { inputId: "i", content: "x" }, misspelt: ["inputID", "inputId"] },
  removeInput: { least: { inputId: "i" }, misspelt: ["input_id", "inputId"] },
  abort: { least: undefined, misspelt: ["inbx", "inbox"] },
  compact: { least: undefined, misspelt: ["instruction", "instructions"] },
  settled: { least: undefined, misspelt: ["signl", "signal"] },
  resultOf: { least: { inputId: "i" }, misspelt: ["input", "inputId"] },
  respondToToolSuspension: { least: { resumeData: 1 }, misspelt: ["resume", "resumeData"] },
  respondToToolApproval: { least: { decision: "approve" }, misspelt: ["desicion", "decision"] },
  switchMode: { least: { modeId: "m" }, misspelt: ["mode", "modeId"] },
  switchModel: { least: { modelId: "m" }, misspelt: ["model", "modelId"] },
  setPermissionForTool: { least: { toolName: "t", policy: "ask" }, misspelt: ["matches", "match"] },
  setPermissionForCategory: { least: { category: "read", policy: "ask" }, misspelt: ["catgory", "category"] },
  grantSessionTool: { least: { toolName: "t" }, misspelt: ["tool", "toolName"] },
  grantSessionCategory: { least: { category: "read" }, misspelt: ["categories", "category"] },
  createThread: { least: undefined, misspelt: ["titel", "title"] },
  switchThread: { least: { threadId: "t" }, misspelt: ["threadID", "threadId"] },
  renameThread: { least: { title: "t" }, misspelt: ["tittle", "title"] },
  deleteThread: { least: { threadId: "t" }, misspelt: ["thread", "threadId"] },
  cloneThread: { least: undefined, misspelt: ["sourceThread", "sourceThreadId"] },
  listThreads: { least: undefined, misspelt: ["limits", "limit"] },
  listEvents: { least: undefined, misspelt: ["afer", "after"] },
  readBlob: { least: { hash: "h" }, misspelt: ["hsah", "hash"] },
  listMessages: { least: undefined, misspelt: ["befor", "before"] },
  rewind: { least: { toSeq: 1 }, misspelt: ["dryrun", "dryRun"] },
  diff: { least: undefined, misspelt: ["sinse", "since"] },
  createSession: { least: undefined, misspelt: ["threadid", "threadId"] },
  close: { least: undefined, misspelt: ["drainMS", "drainMs"] },
  drain: { least: undefined, misspelt: ["drain", "drainMs"] },
  drive: { least: { threadId: "t" }, misspelt: ["thread", "threadId"] },
  followThreads: { least: undefined, misspelt: ["resourceID", "resourceId"] },
  pending: { least: undefined, misspelt: ["resource", "resourceId"] },
  removeHeartbeat: { least: { id: "h" }, misspelt: ["ids", "id"] },
  registerHeartbeat: { least: { id: "h", intervalMs: 5, handler: () => 1 }, misspelt: ["interval", "intervalMs"] },
};

const isRefusal = (error: unknown, method: string): error is CinchError => {
  assert.ok(error instanceof CinchError, `${method}: ${String(error)}`);
  assert.match(error.code, /^INVALID_(INPUT|CONFIG)$/, method);
  return true;
};

/** All data of a thread and a store. */
const everything = async (h: Harness) => ({
  display: h.getDisplayState(),
  state: h.getState(),
  rules: h.getPermissionRules(),
  grants: h.getSessionGrants(),
  threads: await h.listThreads(),
});

test("every method refuses an unknown key, names the similar one, and does nothing", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await h.createThread();
  const before = await everything(h);
  for (const [method, { least, misspelt }] of Object.entries(METHODS)) {
    const [wrong, meant] = misspelt;
    const promise = (h as unknown as Record<string, Call>)[method]!({ ...least, [wrong]: "x" });
    assert.ok(promise instanceof Promise, `${method} rejects, and does not throw`);
    await assert.rejects(promise, (error: unknown) => {
      if (!isRefusal(error, method)) return false;
      assert.ok(error.message.includes(`"${wrong}": did you mean "${meant}"?`), `${method}: ${error.message}`);
      return true;
    });
  }
  assert.deepEqual(await everything(h), before);
});

test("every method refuses a value that is not an object or lacks a key, and does nothing", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await h.createThread();
  const before = await everything(h);
  for (const [method, { least }] of Object.entries(METHODS)) {
    const required = Object.keys(least ?? {});
    const lacking = required.map((key) => Object.fromEntries(Object.entries(least!).filter(([name]) => name !== key)));
    const odd = required.map((key) => ({ ...least, [key]: key === "handler" ? 5 : undefined }));
    const typed = required.filter((key) => key !== "resumeData").map((key) => ({ ...least, [key]: Symbol("x") }));
    const missing = least === undefined ? [] : [undefined];
    for (const options of [null, "x", 5, [], () => 1, ...missing, ...lacking, ...odd, ...typed]) {
      const promise = (h as unknown as Record<string, Call>)[method]!(options);
      assert.ok(promise instanceof Promise, `${method} rejects, and does not throw`);
      await assert.rejects(promise, (error: unknown) => isRefusal(error, method), `${method}: ${typeof options}`);
    }
  }
  assert.deepEqual(await everything(h), before);
});

test("a command that is refused creates no thread", async () => {
  await using h = await harness({ model: script(say("hi")) });
  const refused = { ...METHODS, setState: { least: { yolo: "yes" }, misspelt: ["", ""] } };
  for (const [method, { least, misspelt }] of Object.entries(refused)) {
    const promise = (h as unknown as Record<string, Call>)[method]!(
      method === "setState" ? least : { ...least, [misspelt[0]!]: "x" },
    );
    await assert.rejects(promise as Promise<unknown>, (error: unknown) => isRefusal(error, method));
    assert.equal(h.getCurrentThreadId(), null, method);
  }
  assert.deepEqual(await h.listThreads(), []);
});

test("a command is accepted as it was at the call: what the caller changes later does not count", async () => {
  await using h = await harness({ model: scriptedBy(() => say("hi")) });
  const [title, updates, message] = [{ title: "" }, { list: [0] }, { content: "" }];
  const given: Promise<unknown>[] = [];
  const states: unknown[] = [];
  h.subscribe((event) => event.type === "state_changed" && states.push(event.updates["list"]));
  for (const n of [1, 2]) {
    title.title = `title ${n}`;
    updates.list[0] = n;
    message.content = `message ${n}`;
    given.push(h.createThread(title), h.setState(updates), h.sendMessage(message));
  }
  await Promise.all(given);
  const titles = (await h.listThreads()).map((thread) => thread.title);
  assert.deepEqual(titles.toSorted(), ["title 1", "title 2"]);
  assert.deepEqual(states, [[1], [2]]);
});

test("methods that return no promise throw for an unknown key, and name the similar one", async () => {
  await using h = await harness({ model: script(say("hi")) });
  const session = await h.createSession();
  for (const [method, { least, misspelt }] of Object.entries(AT_ONCE)) {
    const [wrong, meant] = misspelt;
    const options = { ...least, [wrong]: "x" };
    const owner = (method in h ? h : session) as unknown as Record<string, Call>;
    const call = (...args: unknown[]) => owner[method]!(...args);
    assert.throws(
      () => (method === "subscribe" ? call(() => undefined, options) : call(options)),
      (error: unknown) => {
        if (!isRefusal(error, method)) return false;
        assert.ok(error.message.includes(`"${wrong}": did you mean "${meant}"?`), `${method}: ${error.message}`);
        return true;
      },
    );
  }
});

test("subscribe and events refuse unknown options at once", async () => {
  await using h = await harness({ model: script(say("hi")) });
  const subscribe = h.subscribe as unknown as Call;
  const events = h.events as unknown as Call;
  const wrong: [() => unknown, RegExp][] = [
    [() => subscribe(), /subscribe\(\) takes a function/],
    [() => subscribe({ type: "x" }), /subscribe\(\) takes a function/],
    [() => subscribe(() => 1, { from: 3 }), /subscribe\(\).*"from"/],
    [() => subscribe(() => 1, { since: "3" }), /since/],
    [() => subscribe(() => 1, { since: -1 }), /since/],
    [() => subscribe(() => 1, null), /subscribe\(\)/],
    [() => events({ sinse: 3 }), /did you mean "since"/],
    [() => events({ signal: {} }), /AbortSignal/],
  ];
  for (const [attempt, says] of wrong)
    assert.throws(attempt, (error: unknown) => isRefusal(error, "subscribe") && says.test(error.message), String(says));
});

test("a file with an unknown key, or without its data, is refused with its message", async () => {
  const data = new MemoryData();
  await using h = await harness({ model: script(say("hi")), storage: memoryStore(data) });
  const png = { mediaType: "image/png", data: new Uint8Array(1) };
  const wrong: [unknown, RegExp][] = [
    [{ ...png, name: "a.png" }, /"name": did you mean "filename"\?.*files\[0\]/s],
    [{ ...png, mimeType: "image/png" }, /"mimeType": there are "mediaType"/],
    [{ mediaType: "image/png" }, /bytes.*base64.*URL.*files\[0\]\.data/s],
    [{ mediaType: "png", data: "AA==" }, /media type like "image\/png"/],
    [{ mediaType: "image/png", data: "§" }, /not base64/],
    [{ mediaType: "image/png", data: [1, 2] }, /bytes/],
    [{ ...png, filename: 5 }, /filename/],
    ["a.png", /files\[0\]/],
    [null, /files\[0\]/],
  ];
  for (const [file, says] of wrong)
    await assert.rejects(h.sendMessage({ content: "Look", files: [file as never] }), (error: unknown) => {
      return isRefusal(error, "sendMessage") && says.test(error.message);
    });
  await assert.rejects(h.sendMessage({ content: "Look", files: "a.png" as never }), { code: "INVALID_INPUT" });
  assert.deepEqual(h.getDisplayState().messages, []);
});

test("limits and seqs must be whole numbers", async () => {
  await using h = await harness({ model: script(say("hi")) });
  for (const limit of [1.5, 0, -1, Number.NaN, Infinity, "2"])
    for (const list of [h.listThreads, h.listMessages])
      await assert.rejects(list({ limit: limit as number }), (error: unknown) => {
        return isRefusal(error, "list") && /list(Threads|Messages)\(\).*limit/s.test(error.message);
      });
  await assert.rejects(h.rewind({ toSeq: 1.5 }), /toSeq must be a whole number from 1/);
  await assert.rejects(h.cloneThread({ atSeq: 0 }), /atSeq must be a whole number from 1/);
});

test("the error for a misspelt key of a configuration names the right one", () => {
  const agent = new Agent({ name: "a" });
  const wrong: [() => unknown, RegExp][] = [
    [() => new Harness({ id: "x", agent, storge: 1 } as never), /"storge": did you mean "storage"\?/],
    [() => new Harness({ id: "x", agent, permission: [] } as never), /"permission": did you mean "permissions"\?/],
    [() => new Harness({ id: "x", agent, zzz: [] } as never), /"zzz": there are "id", "storage"/],
    [() => new Agent({ name: "a", instruction: "x" } as never), /"instruction": did you mean "instructions"\?/],
    [
      () => new Harness({ id: "x", modes: [{ id: "m", agent, avaliableTools: [] }] } as never),
      /"avaliableTools": did you mean "availableTools"\?/,
    ],
    [
      () => new Harness({ id: "x", agent, permissions: [{ tool: "x", policy: "deny" }] } as never),
      /"tool": did you mean "toolName"\?/,
    ],
    [() => new Harness({ id: "x", agent, budget: { step: 1 } } as never), /"step": did you mean "steps"\?/],
    [() => new Harness(undefined as never), /Harness/],
    [() => new Agent(null as never), /Agent/],
  ];
  for (const [attempt, says] of wrong)
    assert.throws(attempt, (error: unknown) => isRefusal(error, "config") && says.test(error.message), String(says));
});

test("a message that was refused does not count as the thread's first", async () => {
  const model = scriptedBy(() => say("hi"));
  await using h = await harness({ model });
  await assert.rejects(h.sendMessage({ contents: "Hello" } as never), { code: "INVALID_INPUT" });
  await h.sendMessage({ content: "Hello" });
  assert.equal(h.getDisplayState().title, "Hello");
  assert.equal(model.requests.length, 1);
});
