import assert from "node:assert/strict";
import { existsSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  localWorkspace,
  memoryBackend,
  type LocalWorkspaceOptions,
  type PathRule,
} from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";
import { commandDesk, type Call, type CommandDesk } from "../tools/execute/command-desk.ts";
import { put, scene } from "./frozen-scene.ts";
import { folder, without } from "../shells/shell-support.ts";

interface Scene extends AsyncDisposable {
  root: string;
  desk: CommandDesk;
}

async function opened(options: Partial<LocalWorkspaceOptions> = {}): Promise<Scene> {
  const place = folder();
  const root = join(place.path, "root");
  scene(root);
  const workspace = localWorkspace({ root, sandbox: "none", env: { HOME: root }, ...options });
  const desk = await commandDesk(workspace, { storage: sqliteStore({ path: join(root, ".cinch/cinch.db") }) });
  const close = async () => {
    await desk.harness.close();
    place[Symbol.dispose]();
  };
  return { root, desk, [Symbol.asyncDispose]: close };
}

/** Each is a path to a frozen file. */
const GIT = `
  .git/config .git/hooks/pre-commit .git/hooks/new/deep .git/config.worktree .git/commondir .git/gitdir .git/hooks
  .git/modules/libs/sub/config .git/modules/libs/sub/hooks/post-checkout .git/modules/libs/sub/commondir
  .git/modules/a/b/c/config .git/modules/new/hooks/x .git/modules/libs/sub/modules/inner/config
  .git/worktrees/second/commondir .git/worktrees/second/gitdir .git/worktrees/second/config.worktree
  .git/worktrees/new/commondir .git/worktrees/new/config.worktree
  libs/sub/.git trees/second/.git apart/.git new/.git new/.git/config new/.git/hooks/post-checkout
  .GIT/config .Git/Hooks/pre-commit .git/CONFIG .git/Hooks/x .gIT/modules/x/Config
  ./.git/config .git/./config .git//config src/../.git/config .git/x/../config /.git/config
  .git/info/../hooks/pre-push a/b/../../.git/hooks/x
  alias/config alias/hooks/pre-commit hooks-alias/pre-commit config-alias alias/modules/libs/sub/config
  scripts/hook.sh
`;
/** Recognised by the contents of their folders. */
const BARE = `
  data/config data/hooks/pre-commit data/commondir backup/config backup/hooks/post-receive backup/hooks/new/deep
`;
const ODD = [
  ".git\u200b/config",
  ".g\u200cit/config",
  ".gi\u00adt/config",
  ".git/hook\u017f/x",
  ".git/\u0063onfi\u034fg",
  ".git\ufe0f/config",
  "\ufeff.git/hooks/x",
  ".git./config",
  ".git /config",
  "git~1/config",
  ".git::$INDEX_ALLOCATION/config",
];
const STARTUP = `
  .bashrc .zshrc dotfiles/zshrc .profile .zshenv .bash_profile .gitconfig .config/git/config .config/fish/config.fish
  .config/autostart/x.desktop .config/systemd/user/x.service .ssh/authorized_keys .ssh/rc .BASHRC
`;
const OWN =
  ".cinch/settings.json .cinch/skills/new/SKILL.md .CINCH/settings.json CINCH~1/settings.json .cinch .cinch/x/../y packages/a/.cinch/settings.json";
const STORE = ".cinch/cinch.db .cinch/cinch.db-wal .cinch/cinch.db-journal";

const words = (text: string): string[] => text.trim().split(/\s+/);

const FROZEN = /frozen, because/;

/** All in one turn. */
async function refuses(desk: CommandDesk, paths: readonly string[], tell: RegExp): Promise<void> {
  const calls = paths.map((file_path): Call => ["write_file", { file_path, content: "evil" }]);
  const answers = await desk.calls(desk.harness, ...calls);
  for (const [at, { text, isError }] of answers.entries()) {
    assert.equal(isError, true, `${paths[at]}: ${text}`);
    assert.match(text, tell, `write_file ${paths[at]}`);
  }
}

describe("the file tools refuse to write", { skip: without("git") }, () => {
  let at: Scene;
  before(async () => {
    at = await opened();
  });
  after(() => at[Symbol.asyncDispose]());

  test("files that git runs, by any name, in every repository", async () => {
    // An existing file has to be read before it is written.
    await at.desk.calls(at.desk.harness, ...words(BARE).map((file_path): Call => ["read_file", { file_path }]));
    await refuses(at.desk, [...words(GIT), ...words(BARE), ...ODD], FROZEN);
    assert.equal(readFileSync(join(at.root, "scripts/hook.sh"), "utf8"), "#!/bin/sh\n");
  });

  test("files that the user's shell runs, if the workspace is the home", async () => {
    await refuses(at.desk, words(STARTUP), FROZEN);
    assert.equal(existsSync(join(at.root, ".profile")), false);
  });

  test("files that Cinch itself obeys, and its store", async () => {
    await refuses(at.desk, words(OWN), FROZEN);
    await refuses(at.desk, words(STORE), /^Denied/);
  });

  test("and to edit or delete it, or a folder that contains it", async () => {
    for (const path of [
      ".git/config",
      "config-alias",
      "dotfiles/zshrc",
      "backup/config",
      "data/config",
      "scripts/hook.sh",
    ]) {
      await at.desk.ok("read_file", { file_path: path });
      const edit = { file_path: path, old_string: "\n", new_string: "evil\n", replace_all: true };
      assert.match(await at.desk.fails("edit_file", edit), FROZEN, path);
      assert.match(await at.desk.fails("delete", { file_path: path.replace("config-alias", ".git/config") }), FROZEN);
    }
    for (const path of [
      ".git/",
      ".git/hooks/",
      ".git/modules/",
      ".git/worktrees/",
      ".cinch/",
      "libs/",
      "libs/sub/",
      "trees/",
      "apart/",
      "data/",
      "dotfiles/",
      "scripts/",
      "backup/",
      "alias/hooks/",
    ])
      await at.desk.fails("delete", { file_path: path });
    for (const path of [
      ".git/config",
      ".git/modules/libs/sub/config",
      ".cinch/settings.json",
      "libs/sub/.git",
      "trees/second/.git",
      "data/config",
      "backup/config",
      "dotfiles/zshrc",
    ])
      assert.ok(existsSync(join(at.root, path)), path);
  });

  test("can be read, listed and searched", async () => {
    for (const path of [".git/config", ".bashrc", ".cinch/settings.json", "alias/config"])
      await at.desk.ok("read_file", { file_path: path });
    assert.match((await at.desk.ok("ls", { path: ".git" })).text, /config/);
    assert.match(
      (await at.desk.ok("grep", { pattern: "repositoryformatversion", path: ".git/config" })).text,
      /config/,
    );
  });

  test("and no person is asked about it", async () => {
    await at.desk.harness.setState({ yolo: false });
    await refuses(at.desk, [".git/hooks/pre-commit"], FROZEN);
    await refuses(at.desk, ["alias/config"], FROZEN);
    await at.desk.harness.setState({ yolo: true });
  });

  test("but nothing else: not in a repository, not beside one, not in a folder of a similar name", async () => {
    const open = words(`
      notes-2.txt src/config src/hooks/useState.ts .github/workflows/ci.yml .gitignore .gitattributes .gitmodules .git/info/exclude
      .git/description config hooks/pre-commit .bashrc.d/x sub/.bashrc sub/.profile .cinch-notes .config/nvim/init.lua
      libs/sub/config trees/second/config .husky/pre-commit modules/a/config git/config
    `);
    for (const path of open) {
      if (existsSync(join(at.root, path))) await at.desk.ok("read_file", { file_path: path });
      await at.desk.ok("write_file", { file_path: path, content: "mine\n" });
    }
    for (const path of ["src/", "alias", "hooks-alias", "sub/"]) await at.desk.ok("delete", { file_path: path });
  });
});

describe("what is frozen", { skip: without("git") }, () => {
  const write = (path: string, mode: PathRule["mode"] = "allow"): PathRule => ({
    operations: ["write"],
    paths: [path],
    mode,
  });

  test("can be written if a path rule names it, as the refusal says", async () => {
    await using shut = await opened();
    const refusal = await shut.desk.fails("write_file", { file_path: ".git/hooks/pre-commit", content: "x" });
    assert.match(refusal, /\{ operations: \["write"\], paths: \["\/\.git\/hooks\/pre-commit"\], mode: "allow" \}/);
    assert.match(refusal, /trusted: true/);
    const own = await shut.desk.fails("write_file", { file_path: ".cinch/a", content: "x" });
    assert.match(own, /paths: \["\/\.cinch\/a"\]/);
    assert.doesNotMatch(own, /trusted/);
    const permissions = [
      write("/.git/hooks/pre-commit"),
      write("/.cinch/skills/**"),
      write("/dotfiles/zshrc"),
      write("/backup/**"),
    ];
    await using at = await opened({ permissions });
    await at.desk.ok("write_file", { file_path: ".git/hooks/pre-commit", content: "x" });
    await at.desk.ok("write_file", { file_path: ".cinch/skills/a/SKILL.md", content: "x" });
    await at.desk.ok("read_file", { file_path: "dotfiles/zshrc" });
    await at.desk.ok("write_file", { file_path: "dotfiles/zshrc", content: "x" });
    await at.desk.ok("write_file", { file_path: "backup/hooks/post-receive", content: "x" });
    await refuses(at.desk, [".git/hooks/pre-push"], FROZEN);
    await refuses(at.desk, [".cinch/settings.json"], FROZEN);
    await refuses(at.desk, [".zshrc"], FROZEN);
  });

  test("stays frozen under a rule for everything, for reading, or for another name", async () => {
    const permissions: PathRule[] = [
      write("/**"),
      write("**/config"),
      write("/.github/**"),
      { operations: ["read"], paths: ["/.git/**"], mode: "allow" },
    ];
    await using at = await opened({ permissions });
    await refuses(at.desk, [".git/config", ".git/hooks/x", ".cinch/x", ".bashrc"], FROZEN);
    await at.desk.ok("write_file", { file_path: "src/config", content: "x" });
  });

  test("can be written in a trusted workspace, except Cinch's own files", async () => {
    await using at = await opened({ trusted: true });
    for (const path of [".git/hooks/pre-commit", "new/.git/config", ".profile", "backup/hooks/post-receive"])
      await at.desk.ok("write_file", { file_path: path, content: "x" });
    await refuses(at.desk, words(OWN), FROZEN);
    await refuses(at.desk, words(STORE), /^Denied/);
  });

  test("stays frozen if a rule denies it, trusted or not", async () => {
    await using at = await opened({ trusted: true, permissions: [write("/.git/**", "deny")] });
    await refuses(at.desk, [".git/config"], /^Denied: a rule forbids/);
  });

  test("is frozen in any part of a workspace, and for an interpreter", async () => {
    using place = folder();
    const root = join(place.path, "root");
    scene(root);
    const backend = compositeBackend({ default: memoryBackend(), routes: { "/repo/": directoryBackend({ root }) } });
    const workspace = createWorkspace({ backend, root, shell: virtualShell({ backend }) });
    await using desk = await commandDesk(workspace);
    const paths = [
      "/repo/.git/config",
      "/repo/scripts/hook.sh",
      "/repo/backup/hooks/x",
      "/repo/.cinch/x",
      "/.git/config",
    ];
    await refuses(desk, paths, FROZEN);
    const tricks = [
      "echo evil > .git/hooks/pre-commit",
      "rm .git/config",
      "mv .git/hooks x",
      "cp -r .git/hooks y; rm -r .git",
    ];
    for (const command of [...tricks, "echo x > ok"]) await desk.call("execute", { command, cwd: "/repo" });
    assert.equal(existsSync(join(root, ".git/hooks/pre-commit")), false);
    assert.ok(existsSync(join(root, ".git/config")));
    assert.ok(existsSync(join(root, ".git/hooks")));
    assert.equal(readlinkSync(join(root, ".git/hooks/post-merge")), "../../scripts/hook.sh");
    assert.equal(readFileSync(join(root, "ok"), "utf8"), "x\n");
  });

  test("is what a hook leads to, also if nothing is there yet", async () => {
    await using at = await opened();
    symlinkSync("../../absent/hook.sh", join(at.root, ".git/hooks/pre-commit"));
    symlinkSync("../../scripts/next.sh", join(at.root, ".git/hooks/pre-push"));
    symlinkSync("last.sh", join(at.root, "scripts/next.sh"));
    symlinkSync("round", join(at.root, ".git/hooks/round"));
    await refuses(at.desk, ["absent/hook.sh", "scripts/last.sh", "scripts/next.sh"], FROZEN);
    await at.desk.ok("write_file", { file_path: "scripts/other.sh", content: "x" });
  });

  test("is found beside hooks that lead to what no disk can have", async () => {
    await using at = await opened();
    symlinkSync("x".repeat(300), join(at.root, ".git/hooks/long"));
    await at.desk.ok("write_file", { file_path: "scripts/other.sh", content: "x" });
    await refuses(at.desk, ["scripts/hook.sh"], FROZEN);
  });

  test("is each link that a hook leads through, even if it is deleted first", async () => {
    await using at = await opened();
    symlinkSync("../../scripts/next.sh", join(at.root, ".git/hooks/pre-push"));
    symlinkSync("/absent", join(at.root, "scripts/next.sh"));
    const file_path = "scripts/next.sh";
    await at.desk.calls(at.desk.harness, ["delete", { file_path }], ["write_file", { file_path, content: "evil" }]);
    assert.equal(readlinkSync(join(at.root, file_path)), "/absent");
  });

  test("is any file if there are more hooks than are looked at", async () => {
    await using at = await opened();
    const target = join(at.root, "scripts/other.sh");
    put(target);
    for (let no = 0; no < 2_100; no++) symlinkSync(`../../missing-${no}`, join(at.root, `.git/hooks/a${no}`));
    symlinkSync("../../scripts/other.sh", join(at.root, ".git/hooks/z"));
    await refuses(at.desk, ["scripts/other.sh", "notes.txt"], FROZEN);
  });

  test("is frozen for the agent: the program may write it", async () => {
    await using at = await opened();
    await at.desk.workspace.upload({ "/.cinch/skills/a/SKILL.md": "by the program" });
    assert.equal(readFileSync(join(at.root, ".cinch/skills/a/SKILL.md"), "utf8"), "by the program");
  });
});
