import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { localShell } from "@cinch/workspace";
import { closing, folder, ran, without } from "./shell-support.ts";

/** A repository that wants to run something, and a command that would let it. */
interface Trap {
  /** `EVIL` stands for the program. */
  config?: Record<string, string>;
  attributes?: string;
  hook?: string;
  command: string;
  /** The expected output. Without it, the command works as if there were no trap. */
  fails?: RegExp;
  /** Not even where the repository is trusted, because there is no terminal. */
  never?: boolean;
}

const CHANGE = "echo more >> file.txt";

/** A server that asks for credentials. */
const ASKS_FOR_PASSWORD = {
  command: "git ls-remote $SERVER/x",
  fails: /could not read Username|terminal prompts disabled/,
};

const traps: Record<string, Trap> = {
  "a hook": { hook: "pre-commit", command: `${CHANGE}; git commit -qam change` },
  "a hook of the index": { hook: "post-index-change", command: `${CHANGE}; git add -A` },
  "a folder of hooks elsewhere": {
    config: { "core.hooksPath": "hooks" },
    command: `${CHANGE}; git commit -qam change`,
  },
  "an fsmonitor": { config: { "core.fsmonitor": "EVIL" }, command: "git status" },
  "an alias": { config: { "alias.st": "!EVIL" }, command: "git st", fails: /alias/ },
  "an alias with another case": { config: { "ALIAS.ST": "!EVIL" }, command: "git st", fails: /alias/ },
  "a pager": { config: { "core.pager": "EVIL", "pager.log": "EVIL" }, command: "git --paginate log", never: true },
  "an editor": {
    config: { "core.editor": "EVIL" },
    command: `${CHANGE}; git commit -qa --allow-empty-message`,
    never: true,
  },
  "an editor of a rebase": { config: { "sequence.editor": "EVIL" }, command: "git rebase -qi HEAD~1", never: true },
  "an external diff": { config: { "diff.external": "EVIL" }, command: `${CHANGE}; git diff` },
  "a diff driver": {
    config: { "diff.evil.command": "EVIL" },
    attributes: "*.txt diff=evil",
    command: `${CHANGE}; git diff`,
  },
  "a text conversion": {
    config: { "diff.evil.textconv": "EVIL" },
    attributes: "*.txt diff=evil",
    command: `${CHANGE}; git diff`,
  },
  "a clean filter": {
    config: { "filter.evil.clean": "EVIL", "filter.evil.required": "true" },
    attributes: "*.txt filter=evil",
    command: `${CHANGE}; git add -A`,
  },
  "a smudge filter": {
    config: { "filter.evil.smudge": "EVIL", "filter.evil.required": "true" },
    attributes: "*.txt filter=evil",
    command: "rm file.txt; git checkout -q -- file.txt",
  },
  "a filter process": {
    config: { "filter.Evil.process": "EVIL", "filter.Evil.required": "true" },
    attributes: "*.txt filter=Evil",
    command: `${CHANGE}; git add -A`,
  },
  "a merge driver": {
    config: { "merge.evil.driver": "EVIL %A" },
    attributes: "*.txt merge=evil",
    command: "git merge -q other || true; grep -c '<<<<' file.txt",
  },
  "a program for signatures": {
    config: { "gpg.program": "EVIL", "commit.gpgSign": "true" },
    command: `${CHANGE}; git commit -qam change`,
    fails: /gpg|sign/,
  },
  "an ssh command": {
    config: { "core.sshCommand": "EVIL" },
    command: "git ls-remote ssh://127.0.0.1:1/x",
    fails: /Connection refused|cannot run ssh/,
  },
  "a remote's program": {
    config: { "remote.up.url": ".", "remote.up.uploadpack": "EVIL" },
    command: "git fetch up",
    fails: /transport 'file' not allowed/,
  },
  "a transport that is a command": {
    config: { "remote.up.url": "ext::EVIL", "protocol.ext.allow": "always" },
    command: "git fetch up",
    fails: /transport 'ext' not allowed/,
  },
  "a credential helper": {
    config: { "credential.helper": "!EVIL" },
    ...ASKS_FOR_PASSWORD,
  },
  "a credential helper for one host": {
    config: { "credential.SERVER.helper": "!EVIL" },
    ...ASKS_FOR_PASSWORD,
  },
  "a program that asks for a password": {
    config: { "core.askPass": "EVIL" },
    ...ASKS_FOR_PASSWORD,
  },
  "a program in a configuration that is included": {
    config: { "include.path": "../included" },
    command: "git st",
    fails: /alias/,
  },
};

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, env: quiet(cwd), stdio: "pipe" });

const quiet = (home: string) => ({
  PATH: process.env.PATH,
  HOME: home,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
});

const options = { skip: without("git"), concurrency: 4 };

describe("git in a strange repository does not run", options, () => {
  /** Two branches with a conflict in one file. */
  let repository: { path: string } & Disposable;
  before(() => {
    repository = folder();
    const { path } = repository;
    git(path, "init", "-q", "-b", "main");
    const commit = (text: string) => {
      writeFileSync(join(path, "file.txt"), text);
      git(path, "add", "-A");
      git(path, "commit", "-qm", text);
    };
    commit("first\n");
    git(path, "branch", "other");
    commit("ours\n");
    git(path, "checkout", "-q", "other");
    commit("theirs\n");
    git(path, "checkout", "-q", "main");
  });
  after(() => repository[Symbol.dispose]());

  for (const [name, trap] of Object.entries(traps)) {
    test(name, async () => {
      const server = createServer((_request, response) => {
        response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
      });
      if (trap.command.includes("$SERVER"))
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo | null)?.port}`;
      for (const trusted of [true, false]) {
        using place = folder();
        const root = lay(trap, repository.path, { place: place.path, url });
        const env = { ...quiet(place.path), SERVER: url };
        await using local = closing(localShell({ root, trusted, env }));
        const { exit, printed } = await ran(local.shell, trap.command, { timeoutMs: 10_000 });
        // In a trusted workspace the trap runs: it is a real one.
        assert.equal(existsSync(join(place.path, "sprung")), trusted && !trap.never, printed);
        if (trusted) continue;
        if (trap.fails) assert.match(printed, trap.fails);
        else assert.equal(exit.code, 0, printed);
      }
      server.close();
    });
  }

  test("a program of a bare repository that lies among the files", async () => {
    using place = folder();
    git(place.path, "init", "-q", "--bare", "inner");
    git(join(place.path, "inner"), "config", "core.fsmonitor", "true");
    await using local = closing(localShell({ root: place.path, env: quiet(place.path) }));
    const { printed } = await ran(local.shell, "git rev-parse --git-dir", { cwd: "/inner" });
    assert.match(printed, /cannot use bare repository/);
  });

  test("but diffs, merges and conversions work as if nothing were configured", async () => {
    using place = folder();
    const both = { ...traps["a diff driver"]!, config: { "diff.evil.command": "EVIL", "diff.evil.textconv": "EVIL" } };
    const root = lay(both, repository.path, { place: place.path });
    await using local = closing(localShell({ root, env: quiet(place.path) }));
    const { stdout } = await ran(local.shell, `${CHANGE}; git diff`);
    assert.match(stdout, /^--- a\/file.txt\n\+\+\+ b\/file.txt\n@@ .*\n ours\n\+more\n/m);
    assert.match((await ran(local.shell, "git show --no-ext-diff HEAD")).stdout, /^\+ours$/m);
  });
});

function lay(
  { config = {}, attributes, hook }: Trap,
  from: string,
  { place, url = "" }: { place: string; url?: string },
): string {
  const root = join(place, "root");
  cpSync(from, root, { recursive: true });
  const evil = join(place, "evil.sh");
  const program = (path: string, text: string) => writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program(evil, `touch ${join(place, "sprung")}`);
  mkdirSync(join(root, "hooks"));
  program(join(root, "hooks/pre-commit"), evil);
  if (hook) program(join(root, ".git/hooks", hook), evil);
  writeFileSync(join(root, "included"), `[alias]\n\tst = !${evil}\n`);
  for (const [key, value] of Object.entries(config)) {
    git(root, "config", key.replace("SERVER", url), value.replace("EVIL", evil));
  }
  if (attributes) writeFileSync(join(root, ".git/info/attributes"), attributes);
  return root;
}
