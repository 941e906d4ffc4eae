import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const git = (cwd: string, ...words: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", ...words], {
    cwd,
    stdio: "pipe",
  });

export const put = (path: string, text = "text\n") => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** A repository with a submodule, a worktree, a bare repository and links to what git runs, in the home of the user. */
export function scene(root: string): void {
  const other = join(root, "..", "other");
  mkdirSync(root);
  git(root, "init", "-q", "-b", "main");
  mkdirSync(other);
  git(other, "init", "-q", "-b", "main");
  git(other, "commit", "-q", "--allow-empty", "-m", "first");
  git(root, "commit", "-q", "--allow-empty", "-m", "first");
  git(root, "submodule", "add", "-q", other, "libs/sub");
  git(root, "worktree", "add", "-q", "trees/second");
  git(root, "init", "-q", "--bare", "backup");
  git(root, "init", "-q", "--separate-git-dir", join(root, "data"), "apart");
  put(join(root, "scripts/hook.sh"), "#!/bin/sh\n");
  symlinkSync("../../scripts/hook.sh", join(root, ".git/hooks/post-merge"));
  for (const [name, target] of Object.entries({
    alias: ".git",
    "hooks-alias": ".git/hooks",
    "config-alias": ".git/config",
  }))
    symlinkSync(target, join(root, name));
  for (const name of [".bashrc", "dotfiles/zshrc", ".cinch/settings.json", "notes.txt"]) put(join(root, name));
  symlinkSync("dotfiles/zshrc", join(root, ".zshrc"));
}
