import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { bwrapSandbox, sandboxShell, type Shell, srtSandbox } from "@cinch/workspace";
import type { SandboxRule } from "@cinch/workspace/shell";
import { programOn } from "../../src/processes/host-programs.ts";
import { bubblewrap, sandboxRuntime } from "../sandboxes/sandboxes.ts";
import {
  closing,
  folder,
  inTime,
  longSleep,
  processesWith,
  program,
  ran,
  stopped,
  until,
  untilNone,
  without,
} from "./shell-support.ts";

const write = (path: string, text = "text\n") => {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
};

for (const { title, name, why, lend, close } of [bubblewrap, sandboxRuntime]) {
  describe(`a command in ${title}`, { skip: why, concurrency: 3 }, () => {
    let place: ReturnType<typeof folder>;
    let shell: Shell;
    before(() => {
      place = folder();
      shell = sandboxShell({ root: place.path, sandbox: lend() });
    });
    after(async () => {
      await shell.close?.();
      await close();
      place[Symbol.dispose]();
    });

    test("behaves as without a sandbox: exit code, streams, folder, files", async () => {
      mkdirSync(join(place.path, "sub"));
      const { exit, stdout, stderr } = await ran(shell, "pwd; echo err > /dev/stderr; echo made > file; exit 4", {
        cwd: "/sub",
      });
      assert.deepEqual([exit.code, stdout, stderr], [4, `${place.path}/sub\n`, "err\n"]);
      assert.equal(readFileSync(join(place.path, "sub", "file"), "utf8"), "made\n");
      assert.equal((await ran(shell, "kill -9 $$")).exit.code, 128 + 9);
    });

    test("shares a temporary folder with the next command, and with nothing else", async () => {
      const note = `cinch-note-${randomUUID()}`;
      assert.equal((await ran(shell, `echo kept > "$TMPDIR/${note}"; ls -A /tmp`)).exit.code, 0);
      assert.equal((await ran(shell, `cat "$TMPDIR/${note}"`)).stdout, "kept\n");
      assert.equal(existsSync(`/tmp/${note}`), false);
    });

    test("has a writable home, and the installed tools", async () => {
      const { exit, printed } = await ran(
        shell,
        'cd ~ && touch file && [ "$HOME" = "$PWD" ] && git --version && ls file',
      );
      assert.equal(exit.code, 0, printed);
    });

    test("runs where HOME is no folder, as for some accounts of services", async () => {
      using root = folder();
      const env = { HOME: "/dev/null" };
      await using other = closing(sandboxShell({ root: root.path, sandbox: lend(), env }));
      const { exit, printed } = await ran(other.shell, "cd ~ && touch file && ls file");
      assert.equal(exit.code, 0, printed);
    });

    test("can work with git as the user that git knows", async () => {
      using repository = folder();
      execFileSync("git", ["init", "-q", repository.path]);
      const identity = {
        GIT_AUTHOR_NAME: "a",
        GIT_AUTHOR_EMAIL: "a@b",
        GIT_COMMITTER_NAME: "a",
        GIT_COMMITTER_EMAIL: "a@b",
      };
      await using other = closing(sandboxShell({ root: repository.path, sandbox: lend(), env: identity }));
      const command =
        "echo x > file; git add file && git commit -qm first && git log --format=%s && git switch -qc new";
      const { exit, stdout, printed } = await ran(other.shell, command);
      assert.deepEqual([exit.code, stdout], [0, "first\n"], printed);
      const known = execFileSync("sh", ["-c", "git config --global user.email || :"]).toString();
      assert.equal((await ran(other.shell, "git config user.email || :")).stdout, known);
    });

    test("can read the repository that the workspace is a worktree of", async () => {
      using both = folder();
      const git = (...args: string[]) =>
        execFileSync("git", ["-C", join(both.path, "main"), "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
      mkdirSync(join(both.path, "main"));
      git("init", "-q");
      git("commit", "-q", "--allow-empty", "-m", "first");
      git("worktree", "add", "-q", join(both.path, "tree"));
      await using other = closing(sandboxShell({ root: join(both.path, "tree"), sandbox: lend() }));
      assert.equal((await ran(other.shell, "git log --format=%s; git status -s")).printed, "first\n");
    });

    test("can't read a folder that a file in the workspace declares as its repository", async () => {
      using both = folder();
      write(join(both.path, "secret", "commondir"), "very-secret");
      write(join(both.path, "root", ".git"), `gitdir: ${join(both.path, "secret")}\n`);
      await using other = closing(sandboxShell({ root: join(both.path, "root"), sandbox: lend() }));
      const { printed } = await ran(other.shell, `cat ${both.path}/secret/commondir`);
      assert.match(printed, /No such file/);
    });

    test("reads its standard input", async () => {
      let printed = "";
      const command = { command: "echo ready; read line; echo got $line", cwd: "/" };
      const running = shell.start(command, (chunk) => void (printed += Buffer.from(chunk).toString()), {
        interactive: true,
      });
      await until(() => printed === "ready\n");
      await running.write("word\n");
      assert.deepEqual([(await running.exit).code, printed], [0, "ready\ngot word\n"]);
    });

    test("is ended with all its processes: first by SIGTERM, then by SIGKILL", async () => {
      const seconds = longSleep();
      const strays = `sleep ${seconds} & setsid sleep ${seconds} &`;
      const polite = await inTime(
        () => stopped(shell, `trap 'echo bye; exit 7' TERM; ${strays} echo ready; wait`),
        ({ exit }) => exit.code === 7,
      );
      assert.deepEqual([polite.exit.code, polite.printed], [7, "bye\n"]);
      const stubborn = await stopped(shell, `trap '' TERM; ${strays} echo ready; while :; do sleep 0.1; done`);
      assert.equal(stubborn.exit.signal, "SIGKILL");
      assert.deepEqual(processesWith(seconds), []);
      const { exit } = await ran(shell, `sleep ${seconds}`, { timeoutMs: 200 });
      assert.equal(exit.timedOut, true);
      assert.deepEqual(processesWith(seconds), []);
    });

    test("can't touch existing files that path rules deny", async () => {
      using root = folder();
      for (const file of ["secrets/deep/key", "app/.env", "app/.env.example", "locked/file", "open"])
        write(join(root.path, file));
      const permissions: SandboxRule[] = [
        { operations: ["read", "write"], paths: ["/secrets/**"], mode: "deny" },
        { operations: ["write"], paths: ["/locked/**"], mode: "ask" },
        { operations: ["read", "write"], paths: ["/**/.env.example"], mode: "allow" },
        { operations: ["read", "write"], paths: ["/**/.env*"], mode: "deny" },
      ];
      await using other = closing(sandboxShell({ root: root.path, sandbox: lend(), permissions }));
      const files = "secrets/deep/key app/.env app/.env.example locked/file open";
      const read = await ran(other.shell, `for f in ${files}; do cat $f >/dev/null 2>&1 && echo $f; done`);
      assert.equal(read.stdout, "app/.env.example\nlocked/file\nopen\n");
      const replace = "mv locked x; rm -rf app/.env secrets locked/file; mv app x; echo new > locked/new";
      await ran(other.shell, `for f in ${files}; do echo changed > $f; done; ${replace}`);
      const now = files.split(" ").map((file) => readFileSync(join(root.path, file), "utf8"));
      assert.deepEqual(now, ["text\n", "text\n", "changed\n", "text\n", "changed\n"]);
      assert.deepEqual(readdirSync(join(root.path, "locked")), ["file"]);
      assert.match((await other.shell.protection()).description, /path rules hold for files that are there/);
    });

    test("can read but not change read-only folders, and does not see hidden ones", async () => {
      using around = folder();
      const [root, data] = [join(around.path, "root"), join(around.path, "data")];
      for (const file of [join(root, "open"), join(root, "store", "file"), join(data, "file")]) write(file);
      const options = { root, sandbox: lend(), readable: [data], hidden: [join(root, "store")] };
      await using other = closing(sandboxShell(options));
      const { stdout } = await ran(
        other.shell,
        `cat open ${data}/file; echo x > ${data}/file; ls store; echo x > store/new`,
      );
      assert.equal(stdout, "text\ntext\n");
      assert.equal(readFileSync(join(data, "file"), "utf8"), "text\n");
      assert.deepEqual(readdirSync(join(root, "store")), ["file"]);
    });

    test("can't read the keys of the home, even if the home is the workspace", async () => {
      using home = folder();
      for (const file of [".ssh/id_rsa", ".netrc", ".bashrc", "notes"]) write(join(home.path, file));
      await using other = closing(sandboxShell({ root: home.path, sandbox: lend(), env: { HOME: home.path } }));
      const { stdout } = await ran(other.shell, "cat notes .ssh/id_rsa .netrc; echo evil >> .bashrc");
      assert.equal(stdout, "text\n");
      assert.equal(readFileSync(join(home.path, ".bashrc"), "utf8"), "text\n");
    });

    test("leaves nothing behind when the harness is killed with kill -9", async () => {
      using root = folder();
      const seconds = longSleep();
      const command = `sleep ${seconds} & setsid sleep ${seconds} & echo \${CINCH_COMMAND##* }; wait`;
      await using harness = await program("shells/shell-harness.ts", [name, root.path, command]);
      await until(() => processesWith(`sleep\0${seconds}`).length === 2);
      await harness.kill();
      assert.deepEqual(await untilNone(seconds), []);
      assert.deepEqual(await untilNone(`cinch-guard\0${harness.line.slice(0, 9)}`), []);
    });
  });
}

describe("the network", () => {
  const get = (url: string) => `curl -sS -m 5 --noproxy '' ${url}`;

  test(
    "reaches only the allowed hosts in sandbox-runtime",
    { skip: sandboxRuntime.why || without("curl") },
    async () => {
      using root = folder();
      const server = createServer((_request, response) => response.end("hello"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const sandbox = srtSandbox();
      await using open = closing(sandboxShell({ root: root.path, sandbox, hosts: ["127.0.0.1"] }));
      await using shut = closing(sandboxShell({ root: root.path, sandbox }));
      const { stdout, printed } = await ran(open.shell, get(`http://127.0.0.1:${port}/`));
      assert.equal(stdout, "hello", printed);
      assert.match((await ran(open.shell, get(`http://localhost:${port}/`))).printed, /blocked/);
      assert.match((await ran(shut.shell, get(`http://127.0.0.1:${port}/`))).printed, /blocked/);
      assert.match((await open.shell.protection()).description, /network only to 127\.0\.0\.1/);
      server.close();
    },
  );

  for (const { late, how } of [
    { late: "its relays to the hosts", how: "[[ $1 == TCP* ]] && sleep 1" },
    // Those of a first try, which sandbox-runtime gives up.
    {
      late: "its helpers",
      how: '[[ $1 == UNIX* ]] && echo >> "$0.started" && (($(wc -l < "$0.started") <= 2)) && sleep 2',
    },
  ])
    test(
      `is there in sandbox-runtime when a command begins, however late ${late} start`,
      { skip: sandboxRuntime.why || without("curl") },
      async (t) => {
        using root = folder();
        using tools = folder();
        const socat = programOn(process.env.PATH ?? "", "socat");
        const script = `#!/bin/bash\n${how}\nexec ${socat} "$@"\n`;
        writeFileSync(join(tools.path, "socat"), script, { mode: 0o755 });
        const { PATH } = process.env;
        t.after(() => (process.env["PATH"] = PATH));
        process.env["PATH"] = `${tools.path}:${PATH}`;
        const server = createServer((_request, response) => response.end("hello"));
        t.after(() => server.close());
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const { port } = server.address() as AddressInfo;
        const options = { root: root.path, sandbox: srtSandbox(), hosts: ["127.0.0.1"], readable: [tools.path] };
        await using slow = closing(sandboxShell(options));
        const { stdout, printed } = await ran(slow.shell, get(`http://127.0.0.1:${port}/`));
        assert.equal(stdout, "hello", printed);
      },
    );

  test("is on or off in bubblewrap, which says so", { skip: bubblewrap.why || without("curl") }, async () => {
    using root = folder();
    const server = createServer((_request, response) => response.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await using on = closing(sandboxShell({ root: root.path, sandbox: bwrapSandbox(), hosts: ["example.com"] }));
    assert.equal((await ran(on.shell, get(`http://127.0.0.1:${port}/`))).stdout, "hello");
    assert.match((await on.shell.protection()).description, /network on, for every host/);
    server.close();
  });
});

describe("the available sandbox", () => {
  test("is detected by a trial run, and described", { skip: bubblewrap.why }, async () => {
    using root = folder();
    await using found = closing(sandboxShell({ root: root.path }));
    const { kind, description } = await found.shell.protection();
    assert.equal(kind, "os");
    assert.match(description, /^bubblewrap: .*network off\.$/);
  });

  test("may be none: then commands run without one, and the description says so", async () => {
    using root = folder();
    const path = process.env.PATH;
    await using alone = closing(sandboxShell({ root: root.path, env: { PATH: path } }));
    process.env.PATH = "/nowhere";
    const { kind, description } = await alone.shell.protection().finally(() => (process.env.PATH = path));
    assert.equal(kind, "none");
    assert.match(
      description,
      /without a sandbox.*There is no sandbox: .*bubblewrap is not installed.*sandbox-runtime does not work/,
    );
    assert.equal((await ran(alone.shell, "echo runs")).stdout, "runs\n");
  });

  test("that is required but does not work runs no command", async () => {
    using root = folder();
    await using broken = closing(sandboxShell({ root: root.path, sandbox: bwrapSandbox({ bwrap: "/nowhere/bwrap" }) }));
    const { exit, stderr } = await ran(broken.shell, "touch ran");
    assert.equal(exit.code, 127);
    assert.match(stderr, /bubblewrap (is not installed|is for Linux)/);
    assert.deepEqual(readdirSync(root.path), []);
    await assert.rejects(broken.shell.protection(), { code: "INVALID_CONFIG" });
  });

  test("can't be the whole machine", () => {
    assert.throws(() => sandboxShell({ root: "/" }), { code: "INVALID_CONFIG" });
  });
});
