import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { execFile } from "node:child_process";
import { registerHooks } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import type { ShellCommand } from "@cinch/workspace/shell";
import { virtualShell } from "@cinch/workspace/virtual";
import { minimalDiskBackend } from "../minimal-disk-backend.ts";
import { folder, ran } from "../shells/shell-support.ts";

/** A shell over real files, of which those of thread "t" are in the folder "t". */
function scene(denied: string[] = []) {
  const place = folder();
  const files = join(place.path, "t");
  mkdirSync(files);
  const shell = virtualShell({ backend: minimalDiskBackend(place.path, denied) });
  const run = (command: string, extra: Partial<ShellCommand> = {}) =>
    ran(shell, command, { reach: { threadId: "t", resourceId: "r" }, ...extra });
  return {
    shell,
    files,
    run,
    async [Symbol.asyncDispose]() {
      await shell.close?.();
      place[Symbol.dispose]();
    },
  };
}

describe("a command of the virtual shell", () => {
  test("works on the files of the backend", async () => {
    await using here = scene();
    writeFileSync(join(here.files, "in.txt"), "one\ntwo\nthree\n");
    const { exit, stdout, stderr } = await here.run(
      "grep -c o in.txt; sort in.txt | head -n 1 > out.txt; echo oops >&2; exit 3",
    );
    assert.deepEqual([exit.code, exit.signal, stdout, stderr], [3, null, "2\n", "oops\n"]);
    assert.equal(readFileSync(join(here.files, "out.txt"), "utf8"), "one\n");
  });

  test("makes, copies, moves and removes files and folders", async () => {
    await using here = scene();
    const steps = [
      "mkdir -p a/b && cd a/b && pwd && echo x > f && cp f g && cd / && ls a/b",
      "cp -r a c && mv a/b/f a/b/h && rm -r a/b/g && ls a/b c/b",
      "mkdir empty && ls -d empty && rmdir empty && ls; rmdir c; echo more >> c/b/f; cat c/b/f",
    ];
    const all: string[] = [];
    for (const step of steps) all.push((await here.run(step)).printed);
    assert.equal(all[0], "/a/b\nf\ng\n");
    assert.equal(all[1], "a/b:\nh\n\nc/b:\nf\ng\n");
    assert.match(all[2]!, /^empty\na\nc\nx\nmore\n.*rmdir.*not empty/is);
    assert.deepEqual(readdirSync(here.files, { recursive: true }).toSorted(), [
      "a",
      "a/b",
      "a/b/h",
      "c",
      "c/b",
      "c/b/f",
      "c/b/g",
    ]);
  });

  test("runs scripts of the workspace, once they may be run", async () => {
    await using here = scene();
    writeFileSync(join(here.files, "hello.sh"), "#!/bin/bash\necho hello $1\n");
    assert.equal((await here.run("./hello.sh world")).exit.code, 126);
    assert.equal(
      (await here.run("chmod +x hello.sh; ./hello.sh world; /bin/sh hello.sh you")).stdout,
      "hello world\nhello you\n",
    );
  });

  test("runs in the folder that it names", async () => {
    await using here = scene();
    mkdirSync(join(here.files, "sub"));
    assert.equal((await here.run("pwd; echo x > file", { cwd: "/sub" })).stdout, "/sub\n");
    assert.ok(existsSync(join(here.files, "sub", "file")));
    const { exit, stderr } = await here.run("pwd", { cwd: "/nowhere" });
    assert.deepEqual([exit.code, stderr], [127, "There is no folder /nowhere to run it in.\n"]);
  });

  test("sees the files of its thread, and of no other", async () => {
    await using here = scene();
    await here.run("echo mine > file");
    const other = await here.run("ls; cat /file; cat ../t/file", { reach: { threadId: "u", resourceId: "r" } });
    assert.equal(other.stdout, "");
    assert.equal(other.exit.code, 1);
  });

  test("gets errors of the backend with the usual messages of commands", async () => {
    await using here = scene(["/locked"]);
    mkdirSync(join(here.files, "dir"));
    const { stderr, exit } = await here.run("cat locked; cat nothing; cat dir; nothing");
    assert.match(
      stderr,
      /locked.*\n.*nothing: No such file or directory\n.*dir.*directory\n.*nothing: command not found\n$/i,
    );
    assert.equal(exit.code, 127);
  });

  test("reaches nothing of the machine: no files, programs, processes, variables or network", async () => {
    await using here = scene();
    process.env.CINCH_TEST_API_KEY = "very-secret";
    const server = createServer((_request, response) => response.end("very-secret"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const commands = [
      "env",
      "cat /etc/passwd /proc/1/environ /proc/self/environ ../../../etc/passwd",
      `ls ${process.cwd()} / /root /home /usr`,
      `curl http://127.0.0.1:${port}; wget http://127.0.0.1:${port}`,
      "node -e 1; python3 -c 1; git status; /bin/sh -c id; js-exec -c 'process.env'",
      "ln -s /etc link; cat link/passwd; ln /etc/passwd hard; cat hard; ps; kill -9 1",
    ];
    const { printed } = await here.run(commands.join("\n"));
    delete process.env.CINCH_TEST_API_KEY;
    server.close();
    assert.doesNotMatch(printed, /very-secret|root:x|package\.json|uid=/);
    assert.deepEqual(readdirSync(here.files), []);
  });

  test("ends at its timeout or abort, whatever it does, and the harness keeps running", async () => {
    await using here = scene();
    let turns = 0;
    const clock = setInterval(() => (turns += 1), 10);
    // A loop of short commands reaches a limit of the interpreter in less time.
    const loop = "while true; do awk 'BEGIN { while (i < 90000) i++ }'; done";
    const busy = await here.run(loop, { timeoutMs: 1_000 });
    clearInterval(clock);
    assert.deepEqual([busy.exit.code, busy.exit.signal, busy.exit.timedOut], [null, "SIGKILL", true]);
    assert.ok(turns > 5, `${turns}`);
    const asleep = await here.run("sleep 100", { signal: AbortSignal.timeout(100) });
    assert.deepEqual([asleep.exit.code, asleep.exit.timedOut], [null, false]);
    const running = here.shell.start({ command: "sleep 100", cwd: "/" }, () => {});
    await sleep(20);
    await running.stop();
    assert.ok((await running.exit).durationMs < 30_000);
    assert.equal((await here.run("echo still here")).stdout, "still here\n");
  });

  test("runs beside others, and ends when the shell is closed", async () => {
    await using here = scene();
    const both = await Promise.all([here.run("sleep 0.05; echo one"), here.run("echo two")]);
    assert.deepEqual(
      both.map(({ stdout }) => stdout),
      ["one\n", "two\n"],
    );
    const running = here.shell.start({ command: "sleep 100", cwd: "/" }, () => {});
    await here.shell.close?.();
    assert.equal((await running.exit).code, null);
    assert.equal((await here.run("true")).stderr, "This shell is closed.\n");
  });

  test("says what protects the machine from it", async () => {
    await using here = scene();
    assert.equal((await here.shell.protection()).kind, "virtual");
  });
});

test("without its package the virtual shell says which one it is", () => {
  using place = folder();
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "just-bash") throw new Error("not found");
      return next(specifier, context);
    },
  });
  try {
    assert.throws(() => virtualShell({ backend: minimalDiskBackend(place.path) }), {
      code: "INVALID_CONFIG",
      message: "virtualShell needs the package just-bash: npm install just-bash",
    });
  } finally {
    hooks.deregister();
  }
});

test("the main entry point loads neither the virtual shell nor its package", async () => {
  const text = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context);
        if (/just-bash|src\\/virtual/.test(found.url)) console.log(found.url);
        return found;
      },
    });
    await import("@cinch/workspace");
    console.log("loaded");
    await import("@cinch/workspace/virtual");`;
  const args = ["-C", "@cinch/source", "--no-warnings", "--input-type=module", "-e", text];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  assert.match(stdout, /^loaded\n.*src\/virtual\/index\.ts\n/);
  assert.doesNotMatch(stdout, /just-bash/);
});
