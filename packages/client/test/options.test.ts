import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type SessionFace } from "@cinch/client";
import { say, script } from "@cinch/testkit";
import { serving } from "../../server/test/serving.ts";

/** Methods that need options, and those that can do without. */
const NEEDS = [
  "sendMessage",
  "post",
  "steer",
  "followUp",
  "editInput",
  "removeInput",
  "resultOf",
  "respondToToolSuspension",
  "respondToToolApproval",
  "switchMode",
  "switchModel",
  "setPermissionForTool",
  "setPermissionForCategory",
  "grantSessionTool",
  "grantSessionCategory",
  "switchThread",
  "renameThread",
  "deleteThread",
  "rewind",
  "readBlob",
] as const;
const CAN = ["abort", "compact", "settled", "createThread", "cloneThread", "listThreads", "diff"] as const;
const LISTS = ["listMessages", "listEvents"] as const;

const file = (data: unknown) => ({ content: "x", files: [{ mediaType: "text/plain", data }] });
const WRONG: readonly (readonly [names: readonly (keyof SessionFace)[], value: unknown])[] = [
  [NEEDS, undefined],
  ...[null, 5, "x", [], { unknown: 1 }].map((value) => [[...NEEDS, ...CAN, ...LISTS], value] as const),
  ...[{}, [null], ["x"]].map((files) => [["sendMessage", "steer"], { content: "x", files }] as const),
  ...[5, null, undefined, "%%%", {}].map((data) => [["sendMessage", "post", "followUp"], file(data)] as const),
  ...["", "..", "a/b", "a b", 5].map((threadId) => [["switchThread", "deleteThread"], { threadId }] as const),
  ...["", "..", "a/b"].map((hash) => [["readBlob"], { hash }] as const),
  [["setState"], { share: Number.NaN }],
];

test("a session of a server refuses wrong options with INVALID_INPUT, as one in the process does", async () => {
  await using at = await serving({ model: script(say("hi")), limits: { requestsPerSecond: 10_000 } });
  const client = connect({ url: at.url });
  const session = await client.createSession();
  const { id } = await session.createThread();
  const outcomes = WRONG.flatMap(([names, value]) =>
    names.map(async (name) => {
      const call = (session[name] as (options: unknown) => Promise<unknown>).bind(session);
      const outcome = await call(value).then(
        (result) => `succeeded: ${JSON.stringify(result)}`,
        (error: { code?: string }) => error.code ?? String(error),
      );
      return [name, value, outcome];
    }),
  );
  const unexpected = (await Promise.all(outcomes)).filter(([, , outcome]) => outcome !== "INVALID_INPUT");
  assert.deepEqual(unexpected, []);
  assert.equal(session.getCurrentThreadId(), id);
  assert.deepEqual((await client.listThreads()).length, 1);
  await client.close();
});

test("a client refuses unknown keys of the options that it reads itself, and names those that there are", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const client = connect({ url: at.url });
  const session = await client.createSession();
  const known = { url: at.url, token: undefined, fetch: undefined };
  const wrong: readonly (readonly [code: string, keys: string, attempt: () => unknown])[] = [
    ["INVALID_CONFIG", "url, token, fetch", () => connect({ ...known, odd: "x" } as never)],
    ["INVALID_INPUT", "threadId", () => client.createSession({ odd: "x" } as never)],
    ["INVALID_INPUT", "since", () => session.subscribe(() => undefined, { odd: 1 } as never)],
    ["INVALID_INPUT", "since, signal", () => session.events({ odd: 1 } as never)],
  ];
  for (const [code, keys, attempt] of wrong)
    await assert.rejects(async () => attempt(), { code, message: `Unknown key "odd": there are ${keys}.` });
  for (const attempt of [() => connect(undefined as never), () => connect("http://127.0.0.1" as never)])
    assert.throws(attempt, { code: "INVALID_CONFIG" });
  await client.close();
});
