import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { hostFolder, parseSkill, skills } from "@cinch/memory";
import { call, say } from "@cinch/testkit";
import { createWorkspace, directoryBackend, memoryBackend, withPolicy } from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";
import { brokenSkills } from "./broken-skills.ts";
import { folderWith, skill, workspaceWith } from "./skill-folders.ts";
import { counting, notesIn, started, summarising, systemOf } from "../sources/started.ts";

test("name, description and path of each skill are in the prompt, and nothing else of it", async () => {
  const workspace = await workspaceWith({
    "/.cinch/skills/pdf/SKILL.md": skill("pdf", { about: "Reads <b>PDF</b> files.", body: "SECRET STEPS" }),
    "/.cinch/skills/pdf/forms.md": "MORE",
    "/.cinch/skills/notes.txt": "no skill",
  });
  await using h = await started({ workspace, context: [skills(["/.cinch/skills"])], steps: [say("done")] });
  await h.sendMessage({ content: "a" });
  const system = systemOf(h.requests[0]!);
  assert.ok(system.includes("- pdf: Reads &lt;b>PDF&lt;/b> files. (/.cinch/skills/pdf/SKILL.md)"), system);
  assert.doesNotMatch(system, /SECRET|MORE|notes/);
  assert.deepEqual(h.infos, []);
});

test("the tool skill gives the instructions, and records that the skill is loaded", async () => {
  const workspace = await workspaceWith({
    "/.cinch/skills/git/SKILL.md": skill("git", { more: "allowed-tools: Bash(git:*) Read\n" }),
  });
  const steps = [call("skill", { name: "git", args: "the last release" }), call("skill", { name: "svn" }), say("done")];
  await using h = await started({ workspace, context: [skills(["/.cinch/skills/"])], steps });
  await h.sendMessage({ content: "a" });
  const [loaded, unknown] = h.results();
  assert.match(loaded!, /^Skill "git", in \/\.cinch\/skills\/git\. .*read its files with read_file/);
  assert.match(loaded!, /ask the user: execute \(git \*\), .*read_file/);
  assert.match(loaded!, /How to do git\.\n\nArguments: the last release$/);
  assert.equal(unknown, 'There is no skill "svn". The skills are: git.');
  const event = h.seen.find(({ type }) => type === "skill_loaded");
  assert.deepEqual(event && "path" in event && event.path, "/.cinch/skills/git/SKILL.md");
});

test("while a skill is active, tools that it does not list ask", async () => {
  const workspace = await workspaceWith({
    "/skills/look/SKILL.md": skill("look", { more: "allowed-tools: Read(/docs/**) Grep\n" }),
    "/docs/a.md": "A",
    "/b.md": "B",
  });
  const steps = [
    call("read_file", { file_path: "/b.md" }),
    call("skill", { name: "look" }),
    call("read_file", { file_path: "/docs/a.md" }),
    call("ls", {}),
    call("read_file", { file_path: "/b.md" }),
    say("done"),
    call("ls", {}),
    say("done"),
  ];
  await using h = await started({ workspace, context: [skills(["/skills"])], steps, onAsk: "decline" });
  await h.sendMessage({ content: "a" });
  await h.sendMessage({ content: "b" });
  assert.deepEqual(h.errors(), [false, false, false, true, true, false]);
});

test("Bash(git:*) covers commands of git alone: whatever runs something else asks, although a rule allows it", async () => {
  const covered = ["git", "git log", "git log --oneline -3", "git commit -m 'a; b'", "git add . && git status"];
  const others = [
    "ls",
    "gitk",
    "git log; rm -rf x",
    "git log | sh",
    "git log && curl example.com",
    "git log $(rm x)",
    "git log `rm x`",
    "sh -c 'git log'",
    "PATH=. git log",
    "git log\nrm x",
    "(git log; rm x)",
    "git log > x; ./x",
  ];
  const backend = memoryBackend();
  const workspace = createWorkspace({ backend, shell: virtualShell({ backend }) });
  await workspace.upload({ "/skills/git/SKILL.md": skill("git", { more: "allowed-tools: Bash(git:*)\n" }) });
  const commands = [...covered, ...others];
  const steps = [call("skill", { name: "git" }), ...commands.map((command) => call("execute", { command })), say("1")];
  const permissions = [{ category: "execute" as const, policy: "allow" as const }];
  await using h = await started({ workspace, context: [skills(["/skills"])], steps, permissions, onAsk: "decline" });
  await h.sendMessage({ content: "a" });
  const ran = h
    .results()
    .slice(1)
    .map((result) => !result.includes("needs a person's approval"));
  assert.deepEqual(
    commands.filter((_, at) => ran[at]),
    covered,
  );
});

test("of two skills with one name the later source counts, and a broken one does not hide the one before it", async () => {
  await using folder = await folderWith({
    "both/SKILL.md": skill("both", { body: "of the user" }),
    "hidden/SKILL.md": skill("hidden", { body: "of the user" }),
  });
  const workspace = await workspaceWith({
    "/skills/both/SKILL.md": skill("both", { body: "of the project" }),
    "/skills/hidden/SKILL.md": "nonsense",
  });
  const steps = [call(["skill", { name: "both" }], ["skill", { name: "hidden" }]), say("done")];
  await using h = await started({ workspace, context: [skills([hostFolder(folder.path), "/skills"])], steps });
  await h.sendMessage({ content: "a" });
  const [both, hidden] = h.results();
  assert.match(both!, /of the project/);
  assert.match(hidden!, /of the user/);
});

test("files of a skill outside of the workspace are read with the tool itself, and none beside its folder", async () => {
  await using folder = await folderWith({
    "own/SKILL.md": skill("own"),
    "own/more/steps.md": "THE STEPS",
    "own/picture.png": "\0PNG",
    "other/SKILL.md": skill("other"),
  });
  await symlink(join(folder.path, "other", "SKILL.md"), join(folder.path, "own", "link.md"));
  const files = ["more/steps.md", "../other/SKILL.md", "/etc/passwd", "link.md", "picture.png", "none.md", "more"];
  const steps = [
    call("skill", { name: "own" }),
    ...files.map((file) => call("skill", { name: "own", file })),
    say("done"),
  ];
  await using h = await started({ context: [skills([hostFolder(folder.path)])], steps });
  await h.sendMessage({ content: "a" });
  assert.match(h.results()[0]!, /do not reach: read its files with the argument file/);
  assert.deepEqual(h.results().slice(1, 2), ["THE STEPS"]);
  assert.deepEqual(h.errors(), [false, false, true, true, true, true, true, true]);
  assert.equal(h.seen.filter(({ type }) => type === "skill_loaded").length, 1);
});

test("a name can't lead out of the folders of skills", async () => {
  const workspace = await workspaceWith({ "/skills/a/SKILL.md": skill("a"), "/b/SKILL.md": skill("b") });
  const steps = ["../b", "..", "", "a/../../b", "/b"].map((name) => call("skill", { name }));
  await using h = await started({ workspace, context: [skills(["/skills"])], steps: [...steps, say("done")] });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(h.errors(), [true, true, true, true, true]);
});

for (const { what, text, line, says } of brokenSkills)
  test(`a broken SKILL.md gets file, line and what to do, and harms no other: ${what}`, async () => {
    const workspace = await workspaceWith({
      "/skills/broken/SKILL.md": text,
      "/skills/whole/SKILL.md": skill("whole"),
    });
    const steps = [call("skill", { name: "whole" }), call("skill", { name: "broken" }), say("done")];
    await using h = await started({ workspace, context: [skills(["/skills"])], steps });
    await h.sendMessage({ content: "a" });
    await h.sendMessage({ content: "again" });
    assert.match(systemOf(h.requests[0]!), /- whole: Does whole\./);
    assert.doesNotMatch(systemOf(h.requests[0]!), /- broken:/);
    const [info] = h.infos;
    assert.equal(new Set(h.infos).size, h.infos.length, "each problem is shown once");
    assert.ok(info!.startsWith(`/skills/broken/SKILL.md:${line}: `), info);
    assert.match(info!, says);
    assert.deepEqual(h.errors(), [false, true]);
    assert.match(h.results()[1]!, says);
  });

test("there are at least 40 kinds of broken files", () => {
  assert.ok(brokenSkills.length >= 40);
  const small = brokenSkills.filter(({ text }) => text.length < 100_000);
  for (const { what, text, line } of small) {
    const { problems } = parseSkill(text, { folder: "broken" });
    assert.equal(problems[0]?.line, line, what);
  }
});

test("a SKILL.md under another name, and a folder in its place, are reported", async () => {
  const workspace = await workspaceWith({
    "/skills/a/skill.md": skill("a"),
    "/skills/b/SKILL.md/x": "",
    "/skills/c/readme.md": "",
  });
  await using h = await started({ workspace, context: [skills(["/skills"])], steps: [say("done")] });
  await h.sendMessage({ content: "a" });
  assert.deepEqual(h.infos, [
    "/skills/a/SKILL.md:1: is named skill.md. Name the file with the instructions SKILL.md.",
    "/skills/b/SKILL.md:1: is not a file. Name the file with the instructions SKILL.md.",
  ]);
});

test("skills that change while a thread runs are one note; the head keeps its bytes, and the next head has them", async () => {
  const workspace = await workspaceWith({
    "/skills/a/SKILL.md": skill("a"),
    "/skills/b/SKILL.md": skill("b"),
  });
  const steps = [say("1"), say("2"), say("3"), say("4")];
  const context = [skills(["/skills"])];
  await using h = await started({ workspace, context, steps, memory: summarising });
  await h.sendMessage({ content: "one" });
  await workspace.upload({
    "/skills/a/SKILL.md": skill("a", { body: "Another way." }),
    "/skills/c/SKILL.md": skill("c"),
  });
  await workspace.upload({ "/skills/b/SKILL.md": "broken" });
  await h.sendMessage({ content: "two" });
  await h.sendMessage({ content: "three" });
  const [note, ...others] = notesIn(h.seen);
  assert.deepEqual(others, []);
  assert.match(note!, /^Changed since this conversation began: skills \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)/);
  assert.match(
    note!,
    /are new:\n- c: Does c\..*\n\nThese skills have changed.*:\n- a: .*\n\nThese skills are gone:\n- b$/,
  );
  const prefix = (at: number, length: number) => JSON.stringify(h.requests[at]!.slice(0, length));
  assert.equal(prefix(1, h.requests[0]!.length), prefix(0, h.requests[0]!.length));
  assert.equal(prefix(2, h.requests[1]!.length), prefix(1, h.requests[1]!.length));
  await h.compact();
  await h.sendMessage({ content: "four" });
  assert.match(systemOf(h.requests[3]!), /- c: Does c\./);
  assert.doesNotMatch(systemOf(h.requests[3]!), /- b:/);
});

test("after a restart, a change of the skills is a note with the whole list", async () => {
  const workspace = await workspaceWith({ "/skills/a/SKILL.md": skill("a"), "/skills/b/SKILL.md": skill("b") });
  await using h = await started({ workspace, context: [skills(["/skills"])], steps: [say("1")] });
  await h.sendMessage({ content: "one" });
  await workspace.upload({ "/skills/a/SKILL.md": skill("a", { about: "Does it better." }) });
  await using later = await started({ workspace, context: [skills(["/skills"])], steps: [say("2")], after: h });
  await later.sendMessage({ content: "two" });
  assert.match(notesIn(later.seen).join(), /- a: Does it better\..*\n- b: Does b\./);
});

test("after a restart, a skill that can't be read stays in the list, and the next change is told", async () => {
  let broken = "";
  const backend = withPolicy(memoryBackend(), {
    before: ({ operation, path }) => {
      if (operation !== "write" && path === broken) throw new Error("EIO");
      return undefined;
    },
  });
  const workspace = createWorkspace({ backend });
  await workspace.upload({ "/skills/a/SKILL.md": skill("a"), "/skills/b/SKILL.md": skill("b") });
  await using h = await started({ workspace, context: [skills(["/skills"])], steps: [say("1")] });
  await h.sendMessage({ content: "one" });
  const threadId = h.getCurrentThreadId()!;
  broken = "/skills/a/SKILL.md";
  const steps = [say("2"), say("3")];
  await using later = await started({ workspace, context: [skills(["/skills"])], steps, after: h });
  await later.switchThread({ threadId });
  await later.sendMessage({ content: "two" });
  assert.deepEqual(notesIn(later.seen), []);
  assert.match(later.infos.join(), /"skills" could not be read: \/skills\/a\/SKILL\.md:1: It can't be read: .*EIO/);
  broken = "";
  await workspace.upload({ "/skills/b/SKILL.md": skill("b", { about: "Does it better." }) });
  await later.sendMessage({ content: "three" });
  assert.match(notesIn(later.seen).join(), /- a: Does a\..*\n- b: Does it better\./);
});

test("in an untrusted workspace nothing is read that the caller did not list; in a trusted one skills are discovered", async () => {
  const files = { "/.cinch/skills/a/SKILL.md": skill("a"), "/.agents/skills/b/SKILL.md": skill("b") };
  for (const [trusted, expected] of [
    [false, false],
    [true, true],
  ] as const) {
    const { workspace, reads } = counting(await workspaceWith(files, { trusted }));
    await using h = await started({ workspace, context: [skills()], steps: [call("skill", { name: "a" }), say("1")] });
    await h.sendMessage({ content: "one" });
    const found = [/- a: /, /- b: /].map((line) => line.test(systemOf(h.requests[0]!)));
    assert.deepEqual(found, [expected, expected]);
    assert.equal(reads.length > 0, expected, reads.join(" "));
    assert.deepEqual(h.errors(), [!expected]);
  }
});

test("path rules hide skills from the list and from the tool", async () => {
  const workspace = createWorkspace({
    backend: memoryBackend(),
    permissions: [{ operations: ["read"], paths: ["/skills/secret/**"], mode: "deny" }],
  });
  await workspace.upload({ "/skills/open/SKILL.md": skill("open"), "/skills/secret/SKILL.md": skill("secret") });
  const steps = [call("skill", { name: "secret" }), say("1")];
  await using h = await started({ workspace, context: [skills(["/skills"])], steps });
  await h.sendMessage({ content: "one" });
  assert.doesNotMatch(systemOf(h.requests[0]!), /secret/);
  assert.deepEqual(h.errors(), [true]);
});

test("a link out of the workspace is not a skill", async () => {
  await using outside = await folderWith({ "evil/SKILL.md": skill("evil") });
  await using root = await folderWith({ "skills/good/SKILL.md": skill("good") });
  await symlink(join(outside.path, "evil"), join(root.path, "skills", "evil"));
  const workspace = createWorkspace({ backend: directoryBackend({ root: root.path }), root: root.path });
  await using h = await started({ workspace, context: [skills(["/skills"])], steps: [say("1")] });
  await h.sendMessage({ content: "one" });
  assert.match(systemOf(h.requests[0]!), /- good: /);
  assert.doesNotMatch(systemOf(h.requests[0]!), /evil/);
});

test("subagents have the list and the tool too", async () => {
  const workspace = await workspaceWith({ "/skills/a/SKILL.md": skill("a") });
  const steps = [
    call("task", { agent: "general-purpose", prompt: "Do a." }),
    call("skill", { name: "a" }),
    say("I did a."),
    say("done"),
  ];
  await using h = await started({ workspace, context: [skills(["/skills"])], steps });
  await h.sendMessage({ content: "a" });
  assert.match(systemOf(h.requests[1]!), /- a: Does a\./);
  assert.match(JSON.stringify(h.requests[2]), /How to do a\./);
});

test("a list of very many skills stays within its limit, and says what is missing", async () => {
  const about = "x".repeat(900);
  const files = Object.fromEntries(
    Array.from({ length: 900 }, (_, at) => `skill-${at}`).map((name) => [
      `/s/${name}/SKILL.md`,
      skill(name, { about }),
    ]),
  );
  const workspace = await workspaceWith(files);
  await using h = await started({ workspace, context: [skills(["/s"])], steps: [say("1")] });
  await h.sendMessage({ content: "one" });
  const system = systemOf(h.requests[0]!);
  assert.ok(system.length < 85_000, String(system.length));
  assert.match(system, /- skill-899: x{40,}… \(\/s\/skill-899\/SKILL.md\)|more are not listed/);
});

test("a source that is no folder is refused", () => {
  for (const source of ["skills", "/a/../b", "", 3 as never, { path: "/x" } as never])
    assert.throws(() => skills([source]), { code: "INVALID_CONFIG", message: /use hostFolder\(\)/ });
  for (const folder of ["skills", undefined, 3, {}])
    assert.throws(() => hostFolder(folder as never), { code: "INVALID_CONFIG", message: /absolute path/ });
});

test("sources that are no list are refused", () => {
  for (const sources of ["/skills", null, { sources: ["/skills"] }])
    assert.throws(() => skills(sources as never), { code: "INVALID_CONFIG", message: /takes a list of folders/ });
});
