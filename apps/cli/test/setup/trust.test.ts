import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Agent, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { say, script } from "@cinch/testkit";
import { TokenFolder } from "../../src/serve/token-folder.ts";
import { exposedKeys } from "../../src/setup/key-files.ts";
import { folderWarning, isTrustedFolder, trustFolder, whatNeedsTrust } from "../../src/setup/trust.ts";
import { userFolders } from "../../src/setup/user-folders.ts";
import { inherited } from "../cli.ts";
import { OPENER, TRUSTER } from "../programs.ts";
import { UserHome } from "./user-home.ts";

test("only what would be obeyed is asked for, and it is not read for that", async () => {
  await using user = new UserHome();
  assert.deepEqual(whatNeedsTrust(user), []);
  user.trap("shop/AGENTS.md", "shop/.cinch/config.json", "shop/.cinch/cinch.db").write({ "shop/README.md": "Hello" });
  assert.deepEqual(whatNeedsTrust(user), ["AGENTS.md", ".cinch/config.json", ".cinch/cinch.db"]);
});

test("whatever stands in the place of a file, a folder can be looked at and opened", async () => {
  await using user = new UserHome().write({ "shop/.cinch": "a file", "shop/.claude": "a file" });
  symlinkSync(".agents", join(user.folder, ".agents"));
  symlinkSync("/nowhere", join(user.folder, "AGENTS.md"));
  assert.deepEqual(whatNeedsTrust(user), ["AGENTS.md", ".agents/skills", ".cinch/cinch.db"]);
  const project = await user.open();
  assert.ok(project.db.startsWith(user.state));
});

test("nothing of a folder that is not trusted is read", async () => {
  await using user = new UserHome();
  user.trap("shop/AGENTS.md", "shop/CLAUDE.md", "shop/.cinch/config.json", "shop/.cinch/agents/a.md");
  user.trap("shop/.cinch/skills/a/SKILL.md", "shop/.agents/skills/a/SKILL.md", "shop/.claude/skills/a/SKILL.md");
  const project = await user.open();
  await project.harness.sendMessage({ content: "hello" });
  assert.deepEqual(project.notes, []);
});

test("a folder is trusted by its real path, without its parents and subfolders", async () => {
  await using user = new UserHome();
  const { folder, env, home } = user;
  symlinkSync(folder, join(home, "link"));
  mkdirSync(join(folder, "packages"));
  trustFolder({ folder: join(home, "link"), env });
  const trusted = ["shop", "link", "", "shop/packages"].map((path) =>
    isTrustedFolder({ folder: join(home, path), env }),
  );
  assert.deepEqual(trusted, [true, true, false, false]);
});

test("what is remembered is private, and survives a line that a crash has cut", async () => {
  await using user = new UserHome();
  const { folder, env, state } = user;
  const file = join(state, "trusted-folders.jsonl");
  user.write({ ".local/state/cinch/trusted-folders.jsonl": '{"folder":"/els' });
  assert.equal(isTrustedFolder({ folder, env }), false);
  trustFolder({ folder, env });
  assert.equal(isTrustedFolder({ folder, env }), true);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("processes that trust folders at the same time lose none", async () => {
  await using user = new UserHome();
  const env = { ...user.env, ...inherited() };
  const groups = Array.from({ length: 4 }, (_, group) =>
    Array.from({ length: 25 }, (__, at) => join(user.home, `project-${group}-${at}`)),
  );
  for (const folder of groups.flat()) mkdirSync(folder);
  const done = groups.map(async (folders) => {
    const child = spawn(process.execPath, [TRUSTER, ...folders], { env, stdio: "inherit" });
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });
  await Promise.all(done);
  assert.deepEqual(
    groups.flat().filter((folder) => !isTrustedFolder({ folder, env })),
    [],
  );
});

test("the home and the root get a warning", async () => {
  await using user = new UserHome();
  const { env, home, folder } = user;
  assert.match(folderWarning({ folder: home, env })!, /is your home folder/);
  assert.match(folderWarning({ folder: "/", env })!, /whole machine/);
  assert.equal(folderWarning({ folder, env }), null);
});

/** What a repository could bring along: threads that YOLO and grants let do anything. */
async function foreignDatabase({ folder }: UserHome): Promise<void> {
  const harness = new Harness({
    id: "attacker",
    agent: new Agent({ name: "attacker", model: script(say("Continue me.")) }),
    storage: sqliteStore({ path: join(folder, ".cinch/cinch.db") }),
  });
  await harness.setState({ yolo: true });
  await harness.close();
}

test("threads that came with a folder are not opened before it is trusted", async () => {
  await using user = new UserHome();
  await foreignDatabase(user);
  assert.deepEqual(whatNeedsTrust(user), [".cinch/cinch.db"]);
  const untrusted = await user.open();
  assert.ok(untrusted.db.startsWith(user.state), untrusted.db);
  assert.deepEqual(await untrusted.harness.listThreads(), []);
  assert.match(
    untrusted.notes[0]!,
    /\.cinch\/cinch\.db is not used, because it came with a folder that is not trusted/,
  );
  const trusted = await user.open({ trusted: true });
  assert.equal((await trusted.harness.listThreads()).length, 1);
});

test("threads that were begun in a folder stay there, and need no trust", async () => {
  await using user = new UserHome();
  const first = await user.open();
  assert.equal(first.db, join(user.folder, ".cinch/cinch.db"));
  await first.harness.createThread({ title: "mine" });
  await first.close();
  symlinkSync(user.folder, join(user.home, "link"));
  assert.deepEqual(whatNeedsTrust({ folder: join(user.home, "link"), env: user.env }), []);
  const second = await user.open();
  assert.deepEqual(
    (await second.harness.listThreads()).map(({ title }) => title),
    ["mine"],
  );
});

test("a database that takes the place of one's own is not opened", async () => {
  await using user = new UserHome();
  await (await user.open()).close();
  for (const name of ["cinch.db", "cinch.db-wal", "cinch.db-shm"])
    rmSync(join(user.folder, ".cinch", name), { force: true });
  await foreignDatabase(user);
  assert.deepEqual(whatNeedsTrust(user), [".cinch/cinch.db"]);
});

test("a project opens where nothing can be remembered, and says what follows", async () => {
  await using user = new UserHome().write({ ".local/state/cinch": "this is a file" });
  const project = await user.open();
  assert.match(project.notes[0]!, /^The next start will ask whether to trust .*cinch\.db: /);
  await project.harness.sendMessage({ content: "hello" });
});

test("processes that start at the same time in a new folder share its threads", async () => {
  await using user = new UserHome();
  const opened = Array.from({ length: 3 }, async () => {
    const env = { ...user.env, ...inherited() };
    const { stdout } = await promisify(execFile)(process.execPath, [OPENER, user.folder], { env });
    return stdout;
  });
  assert.deepEqual([...new Set(await Promise.all(opened))], [join(user.folder, ".cinch/cinch.db")]);
});

test("a link in the place of .cinch is not followed before the folder is trusted", async () => {
  await using user = new UserHome();
  mkdirSync(join(user.home, "victim"));
  symlinkSync(join(user.home, "victim"), join(user.folder, ".cinch"));
  const project = await user.open();
  assert.ok(project.db.startsWith(user.state), project.db);
});

test("the repository of a project ignores the threads, and nothing else of .cinch", async () => {
  await using user = new UserHome();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: user.folder, encoding: "utf8" });
  git("init", "--quiet");
  await user.open();
  assert.equal(git("status", "--porcelain", "--untracked-files=all"), "");
  writeFileSync(join(user.folder, ".cinch/config.json"), "{}");
  assert.equal(git("status", "--porcelain", "--untracked-files=all"), "?? .cinch/config.json\n");
});

test("a HOME that is empty or relative is not taken for a folder of the project", () => {
  const { homedir } = userInfo();
  const own = { home: homedir, config: join(homedir, ".config/cinch"), state: join(homedir, ".local/state/cinch") };
  assert.deepEqual(userFolders({ HOME: "relative" }), own);
});

test("a HOME that is no folder has no keys and no tokens", async () => {
  await using user = new UserHome();
  const env = { HOME: "/dev/null" };
  assert.deepEqual(exposedKeys(env), []);
  assert.deepEqual(new TokenFolder({ folder: user.folder, env }).list(), []);
  const project = await user.open({ env });
  assert.match(project.notes[0]!, /^The next start will ask whether to trust .*cinch\.db: /);
});
