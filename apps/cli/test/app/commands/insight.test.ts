import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { call, hang, say, scriptedBy, type Step } from "@cinch/testkit";
import { commandStage, withoutTimes } from "./command-stage.ts";

const tasks = [
  { content: "Read the code", status: "completed" },
  { content: "Fix the \u001b]0;sum\u0007loop", status: "in_progress" },
];

test("/tasks shows the task list", async () => {
  await using stage = await commandStage([call("write_todos", { todos: tasks }), say("Ok.")]);
  assert.match((await stage.run("/tasks"))[0]!, /^There are no tasks\./);
  await stage.session.sendMessage({ content: "plan it" });
  assert.deepEqual(await stage.run("/tasks"), ["Tasks  1 of 2 done", "  ✓ Read the code", "  ▸ Fix the loop"]);
});

/** The main agent and its subagent have one model: the subagent is the one whose prompt has this word. */
const withSubagent = (main: Step[], below: Step) =>
  scriptedBy(({ prompt }) => {
    if (JSON.stringify(prompt.slice(1)).includes("REVIEW-THIS") && !JSON.stringify(prompt).includes("please"))
      return below;
    return main[prompt.filter(({ role }) => role === "assistant").length] ?? say("(the script has ended)");
  });
const reviewer = { ".config/cinch/agents/reviewer.md": "---\ndescription: Reviews.\n---\nReview." };

test("/agents shows what each subagent does, and opens what it did", async () => {
  const main = [call("task", { agent: "reviewer", prompt: "REVIEW-THIS" }), say("Reviewed.")];
  await using stage = await commandStage(withSubagent(main, say("Two **findings**.")), { files: reviewer });
  assert.match((await stage.run("/agents"))[0]!, /^This thread has no subagents yet\./);
  await stage.session.sendMessage({ content: "please" });
  await stage.picks({ label: /REVIEW-THIS/ }).run("/agents");
  assert.match(stage.lists[0]!.rows[0]!, /REVIEW-THIS.* ended/);
  assert.deepEqual(
    stage.pages[0]!.rows.filter((row) => /REVIEW|finding/.test(row)),
    ["REVIEW-THIS", "Two findings."],
  );
});

test("/background shows and stops a subagent and a command that run in the background", async () => {
  const main = [
    call(
      ["execute", { command: "echo ready; sleep 1000", background: true }],
      ["task", { agent: "reviewer", prompt: "REVIEW-THIS", background: true }],
    ),
    say("Both run."),
  ];
  await using stage = await commandStage(withSubagent(main, hang("Hm")), {
    files: reviewer,
    flags: { yolo: true },
  });
  assert.deepEqual(await stage.run("/background"), [
    "Nothing runs in the background of this thread. A command that another terminal started is listed there.",
  ]);
  await stage.session.sendMessage({ content: "please" });
  await stage.until(({ activeSubagents }) => Object.values(activeSubagents).some(({ text }) => text === "Hm"));
  const commands = () => stage.project.workspace.backgroundCommands();
  while (!commands()[0]?.output.includes("ready")) await sleep(10);

  await stage.picks({ label: /echo ready/ }).run("/background");
  assert.deepEqual(stage.pages, [{ title: "echo ready; sleep 1000", rows: ["ready"] }]);
  assert.equal(stage.lists[0]!.rows.length, 2);

  await stage.picks({ label: /echo ready/, way: "s" }, { label: /^No/ }).run("/background");
  assert.equal(commands().length, 1);
  const [stopped] = await stage.picks({ label: /echo ready/, way: "s" }, { label: /^Yes/ }).run("/background");
  assert.match(stopped!, /^cmd-\d+ was stopped\. Its changes to files stay\.$/);
  assert.deepEqual(commands(), []);

  await stage.picks({ label: /REVIEW-THIS/, way: "s" }, { label: /^Yes/ }).run("/background");
  await stage.until(({ activeSubagents }) => Object.values(activeSubagents).every(({ endedAt }) => endedAt !== null));
});

test("/skills lists what the model can load, and what is wrong with the others", async () => {
  const skill = (name: string, description: string) => `---\nname: ${name}\ndescription: ${description}\n---\nDo it.`;
  const files = {
    ".config/cinch/skills/release/SKILL.md": skill("release", "How to release."),
    "shop/.cinch/skills/test/SKILL.md": skill("test", "How to test."),
    "shop/.cinch/skills/broken/SKILL.md": skill("Broken", "It is."),
  };
  await using trusted = await commandStage([], { files });
  const rows = (await trusted.run("/skills")).map((row) => row.replaceAll(trusted.home, "~"));
  assert.deepEqual(rows.slice(0, 3), [
    "- release: How to release. (~/.config/cinch/skills/release/SKILL.md)",
    "- test: How to test. (~/shop/.cinch/skills/test/SKILL.md)",
    "Problems",
  ]);
  assert.match(rows[3]!, /^~\/shop\/\.cinch\/skills\/broken\/SKILL\.md:2: The name "Broken" has capital letters\./);
  await using untrusted = await commandStage([], { files, trusted: false });
  const own = await untrusted.run("/skills");
  assert.equal(own.filter((row) => row.startsWith("- ")).length, 1);
  assert.match(own.at(-1)!, /The skills of this folder are not read, because it is not trusted\.$/);
  await using none = await commandStage([]);
  assert.match((await none.run("/skills"))[0]!, /^There are no skills\. A skill is a folder with a SKILL\.md, in /);
});

test("/cost, /context and /memory say where tokens and dollars go", async () => {
  const files = {
    ".config/cinch/config.json": JSON.stringify({ prices: { "scripted/one": { input: 10_000, output: 0 } } }),
  };
  await using stage = await commandStage([say("Hello.")], { files });
  assert.deepEqual(await stage.run("/cost"), ["This thread has used nothing yet."]);
  await stage.session.sendMessage({ content: "hello" });
  assert.deepEqual(await stage.run("/cost"), [
    "This thread has used 100 tokens in (0 % cached), 10 out: $1.00.",
    "  scripted/one  $1.00  100 tokens in (0 % cached), 10 out",
  ]);
  const context = await stage.run("/context");
  assert.match(context[0]!, /^The next prompt for scripted\/one has about \d+k? of \d+k tokens\.$/);
  assert.deepEqual(
    context.slice(1).map((row) => row.trim().split("  ")[0]),
    ["instructions", "tools", "skills", "AGENTS.md and others", "memory", "messages", "results of tools", "free"],
  );
  const memory = await stage.run("/memory");
  assert.match(memory[0]!, /^messages {6}\d+ of 30k tokens \(\d+ %\); then they are observed$/);
  assert.equal(memory[2], "The prompt still holds every message.");
});

test("/compact shortens the prompt, and /memory shows what stands for the messages", async () => {
  const long = "The sum is wrong. ".repeat(200);
  const model = scriptedBy(({ prompt }) => {
    const isObserver = !JSON.stringify(prompt[0]).includes("You are Cinch");
    return isObserver ? say("<observations>\n* The user wants the sum fixed.\n</observations>") : say(long);
  });
  await using stage = await commandStage(model);
  await stage.session.sendMessage({ content: long });
  await stage.session.sendMessage({ content: long });
  const printed = await stage.run("/compact keep the sum");
  assert.equal(printed[0], "Compacting …");
  assert.match(printed[1]!, /^The prompt has shrunk from \d+k? to \d+k? tokens\. No message is lost\.$/);
  const memory = await stage.run("/memory");
  assert.ok(
    memory.some((row) => row.includes("The user wants the sum fixed.")),
    memory.join("\n"),
  );
});

test("the offline model has no memory, and the commands about it say so", async () => {
  await using stage = await commandStage([], { modelId: "offline" });
  assert.match((await stage.run("/compact"))[0]!, /^The offline model has no memory/);
  assert.match((await stage.run("/memory"))[0]!, /^The offline model has no memory/);
});

test("a title with control sequences is shown without them", async () => {
  await using stage = await commandStage([say("Hello.")]);
  await stage.session.sendMessage({ content: "hi" });
  assert.deepEqual(await stage.run("/rename a \u001b]0;fake\u0007title\u001b[2J"), ['The thread is now "a title".']);
  await stage.picks(null).run("/threads");
  assert.deepEqual(withoutTimes(stage.lists[0]!.rows), ["a title    2 messages  this one"]);
});
