import assert from "node:assert/strict";
import { test } from "node:test";
import { call, say } from "@cinch/testkit";
import { errorLines } from "../../../src/views/failure.ts";
import { plainText } from "../../text/shown.ts";
import { commandStage } from "./command-stage.ts";

test("/mode changes the mode, by name or from a list", async () => {
  await using stage = await commandStage([]);
  assert.deepEqual(await stage.run("/mode plan"), ["The mode is plan."]);
  assert.deepEqual(await stage.picks({ label: "build" }).run("/mode"), ["The mode is build."]);
  assert.deepEqual(stage.lists[0]!.rows, [
    "plan  some tools  an approved plan leads to build  this one",
    "build  all tools",
  ]);
  await assert.rejects(stage.run("/mode biuld"), /build/);
  assert.equal(stage.session.getCurrentModeId(), "build");
});

test("/model lists what has a key, takes any id, and says what an id lacks", async () => {
  const env = { OPENAI_API_KEY: "sk-x", OLLAMA_HOST: "localhost:1" };
  await using stage = await commandStage([], { env });
  const printed = await stage.picks({ label: "ollama/qwen4", query: "ollama/qwen4" }).run("/model");
  assert.deepEqual(printed, ["The model is ollama/qwen4."]);
  assert.deepEqual(await stage.picks({ label: "offline" }).run("/model"), ["The model is offline."]);
  assert.deepEqual(stage.lists[1]!.rows, [
    "ollama/qwen4  this one",
    "scripted/one",
    "openai/gpt-5.6",
    "offline  rule-based, needs no key",
  ]);
  assert.deepEqual(await stage.run("/model anthropic/claude-sonnet-5"), [
    "anthropic/claude-sonnet-5 needs a key: set ANTHROPIC_API_KEY. Without a key, use /model offline",
  ]);
  assert.deepEqual(await stage.run("/model claude-sonnet-5"), [
    '"claude-sonnet-5" has no provider. Perhaps you meant: /model anthropic/claude-sonnet-5',
  ]);
  await stage.run("/mode plan");
  assert.equal(stage.session.getCurrentModelId(), "offline", "a model is for all modes");
});

test("/yolo says what it means, and is turned off again", async () => {
  await using stage = await commandStage([]);
  const [on] = await stage.run("/yolo");
  assert.match(on!, /^YOLO is on: in this thread no call asks before it runs.* What a rule denies stays denied\./);
  assert.equal(stage.session.getState().yolo, true);
  assert.deepEqual(await stage.run("/yolo"), ["YOLO is off: calls ask again, as the rules say."]);
  await stage.run("/yolo off");
  assert.equal(stage.session.getState().yolo, false);
  assert.deepEqual(await stage.run("/yolo maybe"), ['"maybe" is neither on nor off: /yolo, /yolo on or /yolo off.']);
});

test("/permissions shows each rule with where it comes from", async () => {
  await using stage = await commandStage([], {
    files: {
      ".config/cinch/config.json": JSON.stringify({
        permissions: { allow: ["npm test *"], paths: [{ operations: ["write"], paths: ["/dist/**"], mode: "deny" }] },
      }),
      "shop/.cinch/config.json": JSON.stringify({ permissions: { deny: ["git push *"] } }),
    },
    flags: { allow: ["ls *"] },
    rows: 50,
  });
  const { session } = stage;
  assert.deepEqual(await stage.run("/permissions allow execute 'npm run *'"), [
    "In this thread, execute npm run *: allow. What another rule denies stays denied: see /permissions.",
  ]);
  assert.deepEqual(await stage.run("/permissions deny category mcp"), [
    "In this thread, every tool of the category mcp: deny.",
  ]);
  assert.deepEqual(await stage.run("/permissions ask edit"), ["In this thread, every tool of the category edit: ask."]);
  await session.grantSessionTool({ toolName: "execute", match: "git add *" });
  const hints = 3;
  assert.deepEqual((await stage.run("/permissions")).slice(0, -hints), [
    "Rules of your configuration",
    "  allow  execute npm test *",
    "Rules of the project",
    "  deny  execute git push *",
    "Rules of the command line",
    "  allow  execute ls *",
    "Paths",
    "  deny  write  /dist/**",
    "Rules of this thread",
    "  allow  execute npm run *",
    "  deny   every tool of the category mcp",
    "  ask    every tool of the category edit",
    "Granted in this thread, by your answers",
    "  allow  execute git add *",
  ]);
  await stage.run("/permissions ask execute git add *");
  assert.deepEqual(session.getSessionGrants(), []);
});

test("/permissions says what is wrong with a rule, and sets none", async () => {
  await using stage = await commandStage([]);
  const usage = "/permissions allow|ask|deny TOOL [PATTERN], or category CATEGORY in place of the tool";
  assert.deepEqual(await stage.run("/permissions permit execute"), [`"permit" is no policy. ${usage}`]);
  assert.deepEqual(await stage.run("/permissions allow"), [`For which tool? ${usage}`]);
  assert.match(
    (await stage.run("/permissions allow exectue"))[0]!,
    /^There is no tool or category "exectue": .*execute/,
  );
  assert.match((await stage.run("/permissions allow edit *.ts"))[0]!, /A category takes no pattern\.$/);
  assert.match(
    (await stage.run("/permissions deny execute curl * | sh"))[0]!,
    /^"curl \* \| sh" is not the pattern of one command, so the rule denies every command\. Write one without/,
  );
  assert.deepEqual(stage.session.getPermissionRules(), []);
});

test("a rule that the user sets answers what waits", async () => {
  await using stage = await commandStage([call("write_file", { file_path: "/a.txt", content: "a" }), say("Done.")]);
  const turn = stage.session.sendMessage({ content: "write it" });
  await stage.until(({ pendingApproval }) => pendingApproval !== null);
  await stage.run("/permissions allow write_file");
  assert.equal((await turn).reason, "complete");
});

const prices = { "scripted/one": { input: 1_000, output: 1_000 } };
const priced = { ".config/cinch/config.json": JSON.stringify({ prices }) };

test("/budget shows the limits, and sets them until the app is left", async () => {
  await using stage = await commandStage([say("Hello."), say("Again.")], { flags: { budget: 2 }, files: priced });
  assert.deepEqual(await stage.run("/budget"), [
    "This thread has used nothing. A turn may use $2, the thread any amount.",
    "/budget 5, /budget thread 20 and /budget none change that until you leave; --budget and the configuration, for good.",
  ]);
  assert.deepEqual(await stage.run("/budget $5"), [
    "This thread has used nothing. A turn may use $5, the thread any amount.",
  ]);
  assert.deepEqual(await stage.run("/budget thread 20"), [
    "This thread has used nothing. A turn may use $5, the thread $20.",
  ]);
  for (const wrong of ["much", "0", "thread", "thread much"])
    assert.match(
      (await stage.run(`/budget ${wrong}`))[0]!,
      new RegExp(`^"${wrong}" is no amount of dollars\\. Write /budget 2`),
    );
});

test("after /budget, a turn that had reached its limit can be continued", async () => {
  const steps = [call("ls", { path: "/" }), say("Now.")];
  await using stage = await commandStage(steps, { flags: { budget: 0.000_001 }, files: priced });
  assert.equal((await stage.session.sendMessage({ content: "look" })).reason, "budget");
  await stage.run("/budget 100");
  assert.equal((await stage.session.sendMessage({ content: "go on" })).reason, "complete");
});

test("/budget sets no limit in dollars for a model of unknown price, and says what is missing", async () => {
  await using stage = await commandStage([say("Hello.")]);
  for (const given of ["5", "thread 20"])
    assert.deepEqual(await stage.run(`/budget ${given}`), [
      'The price of "scripted/one" is unknown, so no limit in dollars can be kept. Add the price to "prices" in your configuration, or choose another model with /model.',
    ]);
  assert.deepEqual(stage.project.config.budget, {});
  assert.equal((await stage.session.sendMessage({ content: "hello" })).reason, "complete");
});

test("/budget none removes the limits in dollars, and only these", async () => {
  const budget = { cost: 2, steps: 30, thread: { cost: 9, tokens: 5_000_000 } };
  const files = { ".config/cinch/config.json": JSON.stringify({ budget }) };
  await using stage = await commandStage([say("Hello.")], { files });
  assert.equal((await stage.session.sendMessage({ content: "hello" })).reason, "error");
  const shown = errorLines(stage.session.getDisplayState().lastError, { ...stage.context.screen(), budget });
  assert.match(shown.map(plainText).join(" "), /Remove the limit in dollars with +\/budget none, or correct/);
  assert.deepEqual(await stage.run("/budget thread none"), [
    "This thread has used nothing. A turn may use $2, 30 steps, the thread 5.0M tokens.",
  ]);
  assert.deepEqual(await stage.run("/budget none"), [
    "This thread has used nothing. A turn may use 30 steps, the thread 5.0M tokens.",
  ]);
  assert.equal((await stage.session.sendMessage({ content: "hello" })).reason, "complete");
});

test("/yolo lets run what waits, and says so", async () => {
  await using stage = await commandStage([call("write_file", { file_path: "/a.txt", content: "a" }), say("Done.")]);
  const turn = stage.session.sendMessage({ content: "write it" });
  await stage.until(({ pendingApproval }) => pendingApproval !== null);
  const [on] = await stage.run("/yolo on");
  assert.match(on!, / What waited for your approval runs now\. \/yolo turns it off\.$/);
  assert.equal((await turn).reason, "complete");
});
