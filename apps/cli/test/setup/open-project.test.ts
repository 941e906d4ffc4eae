import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { textOf, type HarnessEvent } from "@cinch/core";
import { UsageError } from "../../src/exit.ts";
import type { Project } from "../../src/setup/project.ts";
import { served, UserHome } from "./user-home.ts";

const mock = new LLMock({ port: 0 });
before(() => mock.start());
after(() => mock.stop());
beforeEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
  mock.onMessage(/hello/, { content: "Hello." });
});

/** The model calls a tool, and then says what it got. */
function calls(name: string, args: object): void {
  mock.on({ userMessage: /go/, hasToolResult: true }, { content: "Done." });
  mock.on({ userMessage: /go/ }, { toolCalls: [{ name, arguments: JSON.stringify(args) }] });
}

/** Everything that the model got. */
const prompts = (): string => JSON.stringify(mock.getRequests().map(({ body }) => body));

async function results({ harness }: Project, content = "go"): Promise<string[]> {
  const events: HarnessEvent[] = [];
  const unsubscribe = harness.subscribe((event) => events.push(event));
  await harness.sendMessage({ content });
  unsubscribe();
  return events.flatMap((event) => (event.type === "tool_end" ? [textOf(event.result.content)] : []));
}

describe("an open project", { concurrency: false }, () => {
  test("a trusted folder is obeyed, and so is the user everywhere", async () => {
    await using user = new UserHome(served(mock)).write({
      ".config/cinch/AGENTS.md": "USER-INSTRUCTIONS",
      ".config/cinch/skills/mine/SKILL.md": "---\nname: mine\ndescription: USER-SKILL\n---\nDo it.",
      ".config/cinch/agents/helper.md": "---\ndescription: USER-AGENT\n---\nHelp.",
      "team/skills/ours/SKILL.md": "---\nname: ours\ndescription: TEAM-SKILL\n---\nDo it.",
      ".config/cinch/config.json": { skills: ["~/team/skills"] },
      "shop/AGENTS.md": "PROJECT-INSTRUCTIONS",
      "shop/.cinch/skills/theirs/SKILL.md": "---\nname: theirs\ndescription: PROJECT-SKILL\n---\nDo it.",
      "shop/.claude/skills/claude/SKILL.md": "---\nname: claude\ndescription: CLAUDE-SKILL\n---\nDo it.",
      "shop/.cinch/agents/reviewer.md": "---\ndescription: PROJECT-AGENT\n---\nReview.",
      "shop/.cinch/config.json": { mode: "plan" },
    });
    const words = (from: string) => from.match(/(USER|TEAM|PROJECT|CLAUDE)-[A-Z]+/g)?.toSorted() ?? [];
    const ofUser = ["TEAM-SKILL", "USER-AGENT", "USER-INSTRUCTIONS", "USER-SKILL"];
    const untrusted = await user.open();
    await untrusted.harness.sendMessage({ content: "hello" });
    assert.deepEqual(words(prompts()), ofUser);
    assert.equal(untrusted.config.mode, "build");
    await untrusted.close();
    mock.clearRequests();
    const trusted = await user.open({ trusted: true });
    await trusted.harness.createThread();
    await trusted.harness.sendMessage({ content: "hello" });
    assert.deepEqual(
      words(prompts()),
      [...ofUser, "CLAUDE-SKILL", "PROJECT-AGENT", "PROJECT-INSTRUCTIONS", "PROJECT-SKILL"].toSorted(),
    );
    assert.equal(trusted.harness.getCurrentModeId(), "plan");
  });

  test("CLAUDE.md is obeyed where there is no AGENTS.md", async () => {
    await using user = new UserHome(served(mock)).write({ "shop/CLAUDE.md": "FROM-CLAUDE" });
    await (await user.open({ trusted: true })).harness.sendMessage({ content: "hello" });
    assert.match(prompts(), /FROM-CLAUDE/);
  });

  test("in plan mode nothing is changed, not even under YOLO", async () => {
    await using user = new UserHome(served(mock));
    calls("write_file", { file_path: "/made", content: "x" });
    const project = await user.open({ flags: { mode: "plan", yolo: true } });
    assert.match((await results(project))[0]!, /^Denied|mode "plan"/);
    assert.equal(existsSync(join(user.folder, "made")), false);
    await project.harness.switchMode({ modeId: "build" });
    assert.match((await results(project, "go on"))[0]!, /Created/);
    assert.equal(existsSync(join(user.folder, "made")), true);
  });

  test("patterns of the flags allow and deny commands", async () => {
    await using user = new UserHome(served(mock));
    const flags = { allow: ["echo *"], deny: ["echo secret"] };
    const project = await user.open({ flags });
    assert.deepEqual(project.harness.getPermissionRules(), [
      { toolName: "execute", match: "echo *", policy: "allow" },
      { toolName: "execute", match: "echo secret", policy: "deny" },
    ]);
    calls("execute", { command: "echo secret" });
    assert.match((await results(project))[0]!, /^Denied/);
  });

  test("no key reaches a command, the journal or the model", async () => {
    await using user = new UserHome({ ...served(mock), CINCH_API_KEY: "a-secret-key" });
    user.write({ ".config/cinch/keys/ANTHROPIC_API_KEY": "sk-ant-secret\n" });
    process.env["ANTHROPIC_API_KEY"] = "sk-ant-environment";
    try {
      const project = await user.open({ flags: { yolo: true } });
      // Without a sandbox, a command that the user approves can read what the user can.
      const attack = project.protection.kind === "os" ? "; cat ~/.config/cinch/keys/* /proc/*/environ" : "";
      calls("execute", { command: `env${attack}` });
      const [printed] = await results(project);
      assert.match(printed!, /PATH=/);
      assert.doesNotMatch(printed! + prompts() + project.notes.join(), /secret|sk-ant/);
      assert.doesNotMatch(JSON.stringify(project.env), /sk-ant/);
      await project.close();
      assert.doesNotMatch(readFileSync(project.db, "latin1"), /sk-ant|a-secret/);
    } finally {
      delete process.env["ANTHROPIC_API_KEY"];
    }
  });

  test("in the home folder, no tool reads the keys or writes what Cinch obeys", async () => {
    await using user = new UserHome(served(mock)).write({
      ".config/cinch/keys/ANTHROPIC_API_KEY": "sk-ant-secret\n",
      ".config/cinch/config.json": { permissions: { rules: [{ category: "edit", policy: "allow" }] } },
    });
    const project = await user.open({ folder: user.home, flags: { yolo: true } });
    assert.match(project.notes[0]!, /home folder/);
    const attempts: [string, object][] = [
      ["read_file", { file_path: "/.config/cinch/keys/ANTHROPIC_API_KEY" }],
      ["grep", { pattern: "sk-ant", path: "/.config" }],
      ["write_file", { file_path: "/.config/cinch/config.json", content: "{}" }],
      ["write_file", { file_path: "/.config/cinch/agents/evil.md", content: "x" }],
      ["write_file", { file_path: "/.local/state/cinch/trusted-folders.jsonl", content: "x" }],
    ];
    if (project.protection.kind === "os")
      attempts.push(["execute", { command: "cat .config/cinch/keys/*; echo x > .config/cinch/config.json" }]);
    for (const [at, [name, args]] of attempts.entries()) {
      mock.clearFixtures();
      calls(name, args);
      const [result] = await results(project, `go ${at}`);
      assert.doesNotMatch(result!, /sk-ant-secret|Created|Replaced/, `${name} ${JSON.stringify(args)}: ${result}`);
    }
    assert.doesNotMatch(prompts(), /sk-ant-secret/);
    assert.equal(existsSync(join(user.config, "agents/evil.md")), false);
    assert.match(readFileSync(join(user.config, "config.json"), "utf8"), /^\{"permissions"/);
  });

  test("the model is that of the flag, CINCH_MODEL, the project, the user, a key, or the built-in one", async () => {
    const base = served(mock);
    await using user = new UserHome({ CINCH_BASE_URL: base["CINCH_BASE_URL"] });
    const idOf = async (options: Parameters<UserHome["open"]>[0]) => (await user.open(options)).model.id;
    assert.equal(await idOf({}), "offline");
    user.write({ ".config/cinch/keys/OPENAI_API_KEY": "sk-key" });
    assert.match(await idOf({}), /^openai\//);
    user.write({
      ".config/cinch/config.json": { model: "vllm/user" },
      "shop/.cinch/config.json": { model: "vllm/project" },
    });
    assert.equal(await idOf({}), "vllm/user");
    assert.equal(await idOf({ trusted: true }), "vllm/project");
    assert.equal(await idOf({ trusted: true, env: { CINCH_MODEL: "vllm/env" } }), "vllm/env");
    assert.equal(await idOf({ env: { CINCH_MODEL: "vllm/env" }, flags: { model: "offline" } }), "offline");
  });

  test("a project's model without a key is left out with a note; the user's is an error", async () => {
    await using user = new UserHome().write({ "shop/.cinch/config.json": { model: "anthropic/claude-sonnet-5" } });
    const project = await user.open({ trusted: true });
    assert.equal(project.model.id, "offline");
    assert.match(project.notes[0]!, /\.cinch\/config\.json: "model": .* needs a key: set ANTHROPIC_API_KEY.*not used/);
    user.write({ ".config/cinch/config.json": { model: "anthropic/claude-sonnet-5" } });
    await assert.rejects(
      user.open(),
      (error) => error instanceof UsageError && /config\.json: "model": /.test(error.message),
    );
  });

  test("a thread can switch to any model that has a key, also to one whose key was saved meanwhile", async () => {
    await using user = new UserHome({ ...served(mock), ANTHROPIC_BASE_URL: mock.url });
    const { harness } = await user.open();
    await harness.selectOrCreateThread();
    await assert.rejects(harness.switchModel({ modelId: "anthropic/claude-sonnet-5" }), /needs a key/);
    user.write({ ".config/cinch/keys/ANTHROPIC_API_KEY": "sk-key\n" });
    await harness.switchModel({ modelId: "anthropic/claude-sonnet-5" });
    const { message } = await harness.sendMessage({ content: "hello" });
    assert.equal(textOf(message!.content), "Hello.");
    assert.equal(mock.getLastRequest()!.headers["x-api-key"] !== undefined, true);
  });

  test("mistakes in rules and agents are notes, and the rest counts", async () => {
    await using user = new UserHome(served(mock)).write({
      ".config/cinch/config.json": { permissions: { rules: [{ toolName: "write_fil", policy: "deny" }] } },
      ".config/cinch/agents/a.md":
        "---\ndescription: A\ntools: read_file, grp\nmodel: google/gemini\ncolor: red\n---\nHelp.",
      ".config/cinch/agents/b.md": "Help.",
    });
    const { notes, harness } = await user.open();
    assert.match(notes[0]!, /the tool "write_fil", which is not there: did you mean "write_file"\?/);
    assert.ok(
      notes.some((note) => /a\.md:5: "color" is ignored/.test(note)),
      notes.join("\n"),
    );
    assert.ok(
      notes.some((note) => /b\.md:1: .* The agent is not used\./.test(note)),
      notes.join("\n"),
    );
    assert.ok(notes.some((note) => /a\.md: "tools": there is no tool "grp": did you mean "grep"\?/.test(note)));
    assert.ok(notes.some((note) => /a\.md: "model": .*needs a key.*uses the model of the thread/.test(note)));
    await harness.sendMessage({ content: "hello" });
  });

  test("a pattern that is not one of a command is a note that says what the rule does", async () => {
    await using user = new UserHome().write({
      ".config/cinch/config.json": { permissions: { allow: ["cd x && npm test", "npm test *"], ask: ["a; b"] } },
    });
    const { notes } = await user.open({ flags: { deny: ["curl * | sh", "git push *"] } });
    const about = notes.filter((note) => note.includes("pattern"));
    assert.deepEqual(
      about.map((note) => note.split(". Write")[0]),
      [
        '"cd x && npm test" is not the pattern of one command, so the rule allows nothing',
        '"a; b" is not the pattern of one command, so the rule makes every command ask',
        '"curl * | sh" is not the pattern of one command, so the rule denies every command',
      ],
    );
  });

  test("what can't be opened leaves nothing behind", async () => {
    await using user = new UserHome().write({ ".config/cinch/config.json": { modle: "x" } });
    await assert.rejects(user.open(), UsageError);
    await assert.rejects(user.open({ flags: { model: "nonsense" } }), UsageError);
    assert.equal(existsSync(join(user.folder, ".cinch")), false);
  });

  test("the folder is the real one", async () => {
    await using user = new UserHome();
    mkdirSync(join(user.home, "x"));
    const project = await user.open({ folder: join(user.home, "x/../shop") });
    assert.equal(project.folder, realpathSync(user.folder));
  });

  test("a project that starts with the offline model has a memory when it gets another one, and while it has that", async () => {
    mock.on({ systemMessage: /memory of a long conversation/ }, { content: "- They said hello." });
    await using user = new UserHome(served(mock)).write({
      ".config/cinch/config.json": { memory: { messageTokens: 1_000 } },
    });
    const { harness, ...project } = await user.open({ flags: { model: "offline" } });
    const seen: HarnessEvent[] = [];
    harness.subscribe((event) => seen.push(event));
    const observations = async (): Promise<number> => {
      for (let turn = 0; turn < 3; turn++) await harness.sendMessage({ content: "hello there ".repeat(300) });
      return seen.splice(0).filter(({ type }) => type === "om_observation_start").length;
    };
    assert.equal(await observations(), 0);
    assert.equal((await harness.compact()).range, null);
    await harness.switchModel({ modelId: "openai-compatible/mock", scope: "thread" });
    assert.ok((await observations()) > 0);
    assert.match(prompts(), /"name":"recall"/);
    await harness.switchModel({ modelId: "offline", scope: "thread" });
    assert.equal(await observations(), 0);
    await project.close();
  });
});
