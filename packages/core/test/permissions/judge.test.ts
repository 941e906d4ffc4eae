import assert from "node:assert/strict";
import { test } from "node:test";
import { judge, type Case, type Finding } from "../../src/permissions/judge.ts";
import type { Fit, Harness, Policy } from "@cinch/core";
import { acting, outcome, applyRule, type Outcome, type Words, type World } from "./judge-acting.ts";
import { next } from "../support.ts";

// The pure function

const found = (policy: Policy, rank: Finding["rank"] = "tool", fit: Fit = "all"): Finding => ({ policy, rank, fit });
const pattern = (policy: Policy, fit: Fit = "all") => found(policy, "pattern", fit);
const category = (policy: Policy) => found(policy, "category");
const interrupts: Finding = { ...pattern("ask"), interrupt: true };

const judged: [why: string, of: Partial<Case>, policy: Policy][] = [
  ["1: what denies decides, whatever is newer", { findings: [category("deny"), pattern("allow")] }, "deny"],
  [
    "1: a pattern that denies applies if it covers some of the arguments",
    { findings: [pattern("deny", "some")] },
    "deny",
  ],
  [
    "1: a pattern that covers none of the arguments does not apply",
    { findings: [pattern("deny", "none"), found("allow")] },
    "allow",
  ],
  ["1: what is not available is denied", { available: false, findings: [pattern("allow")] }, "deny"],
  ["1: YOLO does not run what a rule denies", { yolo: true, findings: [category("deny")] }, "deny"],
  ["1: YOLO does not run what is not available", { yolo: true, available: false }, "deny"],
  ["2: YOLO runs what no rule denies", { yolo: true, findings: [pattern("ask"), interrupts] }, "allow"],
  ["3: a pattern is more specific than a tool", { findings: [pattern("ask"), found("allow")] }, "ask"],
  ["3: insist asks, whatever rules allow", { findings: [found("ask", "insist"), pattern("allow")] }, "ask"],
  ["3: a tool is more specific than a category", { findings: [found("allow"), category("ask")] }, "allow"],
  ["3: of equals the newest asks", { findings: [pattern("allow"), pattern("ask")] }, "ask"],
  ["3: of equals the newest allows", { findings: [pattern("ask"), pattern("allow")] }, "allow"],
  ["3: a pattern that allows has to cover everything", { findings: [pattern("allow", "some")] }, "ask"],
  [
    "3: a pattern that asks applies if it covers some of the arguments",
    { findings: [pattern("ask", "some"), found("allow")] },
    "ask",
  ],
  ["3: a pattern that does not fit is ignored", { category: "read", findings: [pattern("ask", "none")] }, "allow"],
  ["4: what only reads runs", { category: "read" }, "allow"],
  ["4: control tools run", { category: "control" }, "allow"],
  ["4: the rest asks", { category: "edit" }, "ask"],
];

for (const [why, of, policy] of judged) {
  test(`judge, line ${why}`, () => {
    const whole: Case = { category: "other", available: true, yolo: false, findings: [], ...of };
    assert.deepEqual(judge(whole), { policy, interrupt: false });
  });
}

test("judge says when it is interruptOn that asks, and only then", () => {
  const of = (...findings: Finding[]) => judge({ category: "other", available: true, yolo: false, findings });
  assert.deepEqual(of(interrupts), { policy: "ask", interrupt: true });
  assert.deepEqual(of(interrupts, pattern("ask")), { policy: "ask", interrupt: false });
  assert.deepEqual(of(interrupts, found("deny")), { policy: "deny", interrupt: false });
});

// Whole calls

const fails = (): Promise<never> => Promise.reject(new Error("no idea"));
const aboutA = { when: ({ words }: Words) => words.includes("a") };
const yolo = { initialState: { yolo: true } };

const cases: [why: string, of: World, expected: Outcome][] = [
  // 1
  [
    "what the harness denies is denied, whatever is allowed on the thread",
    { harness: ["deny <other>"], thread: ["allow act", "allow act:a", "grant act", "grant <other>", "yolo on"] },
    "is denied",
  ],
  ["what the agent denies is denied under YOLO", { agent: ["deny act"], config: yolo }, "is denied"],
  ["what the thread denies is denied under YOLO", { thread: ["yolo on", "deny <other>"] }, "is denied"],
  [
    "what a path rule denies is denied",
    { harness: ["allow act:*"], tool: { policy: () => "deny" }, config: yolo },
    "is denied",
  ],
  ["a path rule that fails denies", { tool: { policy: fails }, config: yolo }, "is denied"],
  ["a tool that the mode does not list is denied", { available: { mode: ["ask_user"] }, config: yolo }, "is denied"],
  [
    "a tool that the agent does not list is denied",
    { available: { agent: [], mode: ["act"] }, config: yolo },
    "is denied",
  ],
  ["a tool that both list is not", { available: { agent: ["act"], mode: ["act"] }, config: yolo }, "runs"],
  ["a tool that only another mode adds is denied", { elsewhere: true, config: yolo }, "is denied"],
  // 2
  [
    "YOLO runs what asks",
    { harness: ["ask act:a"], thread: ["yolo on"], config: { interruptOn: { act: true } } },
    "runs",
  ],
  ["YOLO ends when it is turned off", { thread: ["yolo off"], config: yolo }, "asks"],
  // 3
  ["a pattern decides over the tool", { harness: ["ask act:a", "allow act"] }, "asks"],
  ["a pattern of the category decides over the tool", { harness: ["allow <other>:a", "ask act"] }, "runs"],
  ["a path rule decides over the tool", { thread: ["ask act"], tool: { policy: () => "allow" } }, "runs"],
  ["a path rule that asks does", { thread: ["allow act"], tool: { policy: () => "ask" } }, "asks"],
  ["a path rule without a policy leaves the decision to other rules", { tool: { policy: () => undefined } }, "asks"],
  ["the tool decides over the category", { harness: ["allow act", "ask <other>"] }, "runs"],
  ["of two patterns the newer decides", { thread: ["allow act:a", "ask act:*"] }, "asks"],
  ["of two patterns the newer decides, to allow too", { thread: ["ask act:*", "allow act:a"] }, "runs"],
  [
    "rules of the thread are newer than those of the configuration",
    { harness: ["ask act"], agent: ["ask act"], thread: ["allow act"] },
    "runs",
  ],
  ["setPermission replaces the rule for the same tool", { thread: ["deny act", "allow act"] }, "runs"],
  ["setPermission replaces the rule for the same category", { thread: ["deny <other>", "allow <other>"] }, "runs"],
  ["with a pattern it is another rule", { thread: ["deny act", "allow act:a"] }, "is denied"],
  ["for the category it is another rule", { thread: ["deny <other>", "allow act"] }, "is denied"],
  ["a grant does not replace what denies", { thread: ["deny act", "grant act"] }, "is denied"],
  ["a grant is newer than the rule before it", { thread: ["ask act", "grant act"] }, "runs"],
  ["setPermission replaces a grant", { thread: ["grant act:a", "ask act:a"] }, "asks"],
  ["a pattern that allows has to cover everything", { words: ["a", "b"], harness: ["allow act:a"] }, "asks"],
  [
    "two patterns that allow a part each do not allow the whole",
    { words: ["a", "b"], harness: ["allow act:a", "allow act:b"] },
    "asks",
  ],
  ["a pattern that asks applies to a part", { words: ["a", "b"], harness: ["allow act", "ask act:a"] }, "asks"],
  ["a pattern that denies applies to a part", { words: ["a", "b"], harness: ["deny act:a"] }, "is denied"],
  ["a pattern that does not fit is ignored", { words: ["b"], harness: ["allow act", "deny act:a"] }, "runs"],
  ...(["allow", "ask", "deny"] as const).flatMap((policy): typeof cases => {
    const expected = policy === "deny" ? "is denied" : "asks";
    const harness = [`${policy} act:z`];
    const why = `a pattern with "${policy}" may be meant for a tool that`;
    return [
      [`${why} knows no patterns`, { harness, tool: { matches: undefined } }, expected],
      [`${why} fails at it`, { harness, tool: { matches: fails } }, expected],
      [`${why} answers nonsense`, { harness, tool: { matches: () => true as never } }, expected],
    ];
  }),
  ["interruptOn asks for what is allowed", { harness: ["allow act"], config: { interruptOn: { act: true } } }, "asks"],
  ["interruptOn asks `when` it should", { harness: ["allow act"], config: { interruptOn: { act: aboutA } } }, "asks"],
  [
    "interruptOn does not ask otherwise",
    { words: ["b"], harness: ["allow act"], config: { interruptOn: { act: aboutA } } },
    "runs",
  ],
  [
    "interruptOn asks when `when` fails",
    { harness: ["allow act"], config: { interruptOn: { act: { when: fails } } } },
    "asks",
  ],
  ["interruptOn: false does not", { harness: ["allow act"], config: { interruptOn: { act: false } } }, "runs"],
  [
    "interruptOn decides over a grant that was not an answer to it",
    { thread: ["grant act"], config: { interruptOn: { act: true } } },
    "asks",
  ],
  ["a newer pattern decides over it", { thread: ["grant act:a"], config: { interruptOn: { act: true } } }, "runs"],
  // 4
  ["a tool that reads runs", { tool: { category: "read" } }, "runs"],
  ["a control tool runs", { tool: { category: "control" } }, "runs"],
  ...(["edit", "execute", "mcp", "other"] as const).map((one): (typeof cases)[number] => {
    return [`a tool of the category "${one}" asks`, { tool: { category: one } }, "asks"];
  }),
  [
    "toolCategory overrides the tool's own category",
    { tool: { category: "read" }, config: { toolCategory: () => "edit" } },
    "asks",
  ],
  [
    "where toolCategory returns undefined, the tool's own category applies",
    { tool: { category: "read" }, config: { toolCategory: () => undefined } },
    "runs",
  ],
  [
    "rules apply to the category that toolCategory returns",
    { harness: ["deny <edit>"], tool: { category: "read" }, config: { toolCategory: () => "edit" } },
    "is denied",
  ],
  ["with onAsk: decline, no person is asked", { config: { onAsk: "decline" } }, "is denied"],
];

for (const [why, of, expected] of cases) {
  test(`a call ${expected}: ${why}`, async () => {
    await using h = await acting(of);
    assert.equal(await outcome(h), expected);
  });
}

// Answers

test("always_allow_tool remembers the narrow pattern that the tool suggests", async () => {
  await using h = await acting({ tool: { suggest: ({ words }) => words[0] } });
  assert.equal(await outcome(h), "asks");
  const ended = next(h, "agent_end");
  await h.respondToToolApproval({ decision: "always_allow_tool" });
  await ended;
  assert.deepEqual(h.getSessionGrants(), [{ toolName: "act", match: "a", policy: "allow" }]);
  assert.equal(await outcome(h), "runs");
});

for (const { why, suggest, offered } of [
  { why: "a tool that suggests nothing for these arguments", suggest: () => undefined, offered: false },
  { why: "a tool that fails to suggest", suggest: fails, offered: false },
  { why: "a tool that never suggests", suggest: undefined, offered: true },
]) {
  test(`${why} ${offered ? "can be allowed as a whole" : "is not allowed as a whole by always_allow_tool"}`, async () => {
    await using h = await acting({ tool: { suggest } });
    assert.equal(await outcome(h), "asks");
    assert.equal(h.getDisplayState().pendingApproval?.decisions.includes("always_allow_tool"), offered);
    const answer = h.respondToToolApproval({ decision: "always_allow_tool" });
    await (offered ? answer : assert.rejects(answer, { code: "INVALID_INPUT" }));
    assert.deepEqual(h.getSessionGrants(), offered ? [{ toolName: "act", policy: "allow" }] : []);
  });
}

test("interruptOn lists the decisions that are accepted", async () => {
  await using h = await acting({ config: { interruptOn: { act: { decisions: ["approve", "decline"] } } } });
  assert.equal(await outcome(h), "asks");
  assert.deepEqual(h.getDisplayState().pendingApproval?.decisions, ["approve", "decline"]);
  await assert.rejects(h.respondToToolApproval({ decision: "edit", args: { words: [] } }), { code: "INVALID_INPUT" });
});

test("always_allow_tool, given as an answer to interruptOn, is as specific as that", async () => {
  await using h = await acting({ config: { interruptOn: { act: true } } });
  assert.equal(await outcome(h), "asks");
  assert.equal(h.getDisplayState().pendingApproval?.decisions.includes("always_allow_category"), false);
  const ended = next(h, "agent_end");
  await h.respondToToolApproval({ decision: "always_allow_tool" });
  await ended;
  assert.equal(await outcome(h), "runs");
  await applyRule(h, "ask act");
  assert.equal(await outcome(h), "asks");
});

test("an approved call is judged again when it runs: an edit to denied arguments is denied", async () => {
  await using h = await acting({ harness: ["deny act:b"] });
  assert.equal(await outcome(h), "asks");
  const ended = next(h, "tool_end");
  await h.respondToToolApproval({ decision: "edit", args: { words: ["a", "b"] } });
  assert.deepEqual((await ended).result.details, { code: "PERMISSION_DENIED" });
  assert.deepEqual(h.runs, []);
});

for (const slow of ["matches", "policy", "suggest"] as const) {
  test(`a tool whose "${slow}" never answers can be aborted`, async () => {
    const called = Promise.withResolvers<void>();
    const hangs = () => {
      called.resolve();
      return new Promise<never>(() => undefined);
    };
    await using h = await acting({ harness: ["ask act:a"], tool: { [slow]: hangs } });
    const turn = h.sendMessage({ content: "go" });
    await called.promise;
    await h.abort();
    assert.equal((await turn).reason, "aborted");
  });
}

// Rules and modes that change

const toOther = (h: Harness) => h.switchMode({ modeId: "other" });

test("a call is checked against the mode of its step, not against one that was switched to meanwhile", async () => {
  await using h = await acting({ available: { mode: [] }, config: yolo, meanwhile: toOther });
  assert.equal(await outcome(h), "is denied");
  assert.equal(await outcome(h), "runs");
});

for (const [rule, expected] of [
  ["deny act", "is denied"],
  ["ask act", "asks"],
] as const) {
  test(`a call is checked against the rules of the moment in which it runs: "${rule}" while the model streams`, async () => {
    await using h = await acting({ harness: ["allow act"], meanwhile: (seat) => applyRule(seat, rule) });
    assert.equal(await outcome(h), expected);
  });
}

for (const [given, revoked] of [
  ["yolo on", "yolo off"],
  ["allow act", "ask act"],
  ["grant act", "ask act"],
] as const) {
  test(`a call that only "${given}" allowed asks when it continues after "${revoked}"`, async () => {
    await using h = await acting({ suspends: true });
    assert.equal(await outcome(h), "asks");
    const suspended = next(h, "tool_suspended");
    await applyRule(h, given);
    await suspended;
    await applyRule(h, revoked);
    const asked = Promise.race([next(h, "tool_approval_required"), next(h, "agent_end")]);
    await h.respondToToolSuspension({ resumeData: null });
    assert.equal((await asked).type, "tool_approval_required");
    assert.deepEqual(h.runs, []);
    const ended = next(h, "agent_end");
    await h.respondToToolApproval({ decision: "approve" });
    assert.equal((await ended).reason, "complete");
    assert.deepEqual(h.runs, [["a"]]);
  });
}

test("a caller can't answer in the name of the rules", async () => {
  await using h = await acting();
  assert.equal(await outcome(h), "asks");
  await assert.rejects(h.respondToToolApproval({ decision: "approve", by: "rules" }), { code: "INVALID_INPUT" });
});

test("of equally specific rules the newest decides in a clone too, however far back it begins", async () => {
  await using h = await acting({ thread: ["allow act:*"] });
  for (let turn = 0; turn < 2; turn++) assert.equal(await outcome(h), "runs");
  await applyRule(h, "allow act:a");
  await h.cloneThread({ atSeq: 1 });
  assert.equal(await outcome(h), "runs");
  await h.cloneThread({ atSeq: 1 });
  await applyRule(h, "ask act:*");
  assert.equal(await outcome(h), "asks");
});
