import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sandboxShell } from "@cinch/workspace";
import { put, scene } from "./frozen-scene.ts";
import { bubblewrap, sandboxRuntime } from "../sandboxes/sandboxes.ts";
import { closing, folder, ran, without } from "../shells/shell-support.ts";

/** The files that are frozen for commands: of the repository at the root, its submodules and worktrees, of the home, and of Cinch. */
const FILES = `
  .git/config .git/hooks .git/commondir .git/config.worktree .git/modules/libs/sub/config .git/modules/libs/sub/hooks
  .git/modules/libs/sub/commondir .git/modules/libs/sub/config.worktree .git/worktrees/second/commondir
  .git/worktrees/second/gitdir .git/worktrees/second/config.worktree scripts/hook.sh .bashrc dotfiles/zshrc .cinch
`
  .trim()
  .split(/\s+/);

const TRICKS = FILES.flatMap((file) => [
  `echo evil >> ${file}`,
  `echo evil > ${file}`,
  `echo evil > ${file}/evil`,
  `mkdir -p ${file} && echo evil > ${file}/evil`,
  `sed -i s/^/evil/ ${file}`,
  `rm -rf ${file}; echo evil > ${file}`,
  `rm -rf ${file}; mkdir -p ${file}; echo evil > ${file}/evil`,
  `mv ${file} away; echo evil > ${file}`,
  `cp ${file} copy; echo evil >> copy; mv -f copy ${file}`,
  `ln -f notes.txt ${file}; echo evil >> notes.txt`,
  `ln -sf ../notes.txt ${file}`,
  `chmod -R 777 ${file}; truncate -s 0 ${file}`,
  `mount --bind notes.txt ${file}; umount ${file}; echo evil > ${file}`,
]).concat(
  "mv .git x; cp -r x .git; echo evil > .git/config",
  "mv .git/modules x; mkdir -p .git/modules/libs/sub; echo evil > .git/modules/libs/sub/config",
  "mv .git/modules/libs x; cp -r x .git/modules/libs; echo evil > .git/modules/libs/sub/config",
  "mv .git/worktrees x; cp -r x .git/worktrees; echo evil > .git/worktrees/second/commondir",
  "mv scripts x; mkdir scripts; echo evil > scripts/hook.sh",
  "mv dotfiles x; mkdir dotfiles; echo evil > dotfiles/zshrc",
  "mv .cinch x; mkdir .cinch; echo evil > .cinch/settings.json",
  "git config core.fsmonitor evil; git -C libs/sub config core.fsmonitor evil",
  "git config --worktree core.fsmonitor evil; git config alias.st '!evil'",
);

/** All frozen files, with their contents. */
function look(root: string): Record<string, unknown> {
  const of = (path: string): unknown => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) return { link: readlinkSync(path) };
    if (stats?.isDirectory())
      return Object.fromEntries(
        readdirSync(path)
          .toSorted()
          .map((name) => [name, of(join(path, name))]),
      );
    return stats && readFileSync(path, "utf8");
  };
  return Object.fromEntries([...FILES, ".zshrc"].map((file) => [file, of(join(root, file))]));
}

for (const { title, why, lend, close } of [bubblewrap, sandboxRuntime]) {
  describe(`in ${title} a command can't change`, { skip: why || without("git") }, () => {
    test("files that git, a shell or Cinch obeys later, in any of a hundred ways", async () => {
      using place = folder();
      const root = join(place.path, "root");
      scene(root);
      await using other = closing(sandboxShell({ root, sandbox: lend(), env: { HOME: root } }));
      // A placeholder that a sandbox puts in the place of a missing file stays from then on.
      await ran(other.shell, "true");
      const before = look(root);
      const script = TRICKS.map((trick, n) => `( ${trick} ) >/dev/null 2>&1; rm -rf copy x away; echo ${n}`).join("\n");
      put(join(root, "tricks.sh"), script);
      const { stdout } = await ran(other.shell, "bash tricks.sh");
      assert.equal(stdout.split("\n").length, TRICKS.length + 1);
      assert.deepEqual(look(root), before);
      await close();
    });

    test("links to such files, and their targets", async () => {
      using place = folder();
      const root = join(place.path, "root");
      scene(root);
      for (const name of ["hooks", "config"]) {
        renameSync(join(root, ".git", name), join(root, `real-${name}`));
        symlinkSync(`../real-${name}`, join(root, ".git", name));
      }
      rmSync(join(root, ".cinch"), { recursive: true });
      put(join(root, "real-cinch/settings.json"));
      symlinkSync("real-cinch", join(root, ".cinch"));
      await using other = closing(sandboxShell({ root, sandbox: lend() }));
      await ran(other.shell, "true");
      const before = look(root);
      const replace = (name: string) => `rm -rf ${name}; mkdir ${name}; echo evil > ${name}/evil; echo evil > ${name}`;
      const through =
        "echo evil > real-hooks/pre-commit; echo evil >> real-config; echo evil > real-cinch/settings.json";
      await ran(other.shell, `${[".git/hooks", ".git/config", ".cinch"].map(replace).join("; ")}; ${through}`);
      assert.deepEqual(look(root), before);
      await close();
    });

    test("the repository that a file at the root names", async () => {
      using place = folder();
      const root = join(place.path, "root");
      scene(root);
      renameSync(join(root, ".git"), join(root, "store.git"));
      put(join(root, ".git"), "gitdir: store.git\n");
      await using other = closing(sandboxShell({ root, sandbox: lend() }));
      await ran(
        other.shell,
        "echo evil >> .git; echo evil >> store.git/config; echo evil > store.git/hooks/pre-commit",
      );
      assert.equal(readFileSync(join(root, ".git"), "utf8"), "gitdir: store.git\n");
      assert.doesNotMatch(readFileSync(join(root, "store.git/config"), "utf8"), /evil/);
      assert.ok(!readdirSync(join(root, "store.git/hooks")).includes("pre-commit"));
      await close();
    });

    test("a submodule beyond the number that is scanned", async () => {
      using place = folder();
      const root = join(place.path, "root");
      scene(root);
      await using other = closing(sandboxShell({ root, sandbox: lend() }));
      await ran(other.shell, "cd .git && mkdir -p worktrees/{1..600} modules/{1..2500}");
      const before = look(root);
      await ran(other.shell, "echo evil >> .git/modules/libs/sub/config; echo evil > .git/worktrees/second/commondir");
      assert.deepEqual(look(root), before);
    });

    test("the harness so that it waits for a pipe in the place of such a file", async () => {
      using place = folder();
      for (const pipe of [".git", ".git/commondir", ".git/modules/evil/commondir", ".git/worktrees/evil/commondir"]) {
        const root = join(place.path, pipe.replaceAll("/", "-"));
        mkdirSync(join(root, pipe, ".."), { recursive: true });
        put(join(root, pipe, "../HEAD"));
        await using other = closing(sandboxShell({ root, sandbox: lend() }));
        await ran(other.shell, "true");
        execFileSync("mkfifo", [join(root, pipe)]);
        assert.equal((await ran(other.shell, "echo over")).stdout, "over\n");
      }
      await close();
    });

    test("hooks of a repository that has no folder for them", async () => {
      using place = folder();
      const root = join(place.path, "root");
      scene(root);
      rmSync(join(root, ".git/hooks"), { recursive: true });
      await using other = closing(sandboxShell({ root, sandbox: lend() }));
      await ran(other.shell, "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit");
      assert.deepEqual(readdirSync(join(root, ".git/hooks")), []);
      await close();
    });

    test("a folder of Cinch that does not exist, and its placeholder is removed", async () => {
      using root = folder();
      {
        await using other = closing(sandboxShell({ root: root.path, sandbox: lend() }));
        await ran(other.shell, "mkdir -p .cinch; echo evil > .cinch/settings.json; mv .cinch x; echo fine > file");
      }
      assert.deepEqual(readdirSync(root.path), ["file"]);
      await close();
    });
  });
}
