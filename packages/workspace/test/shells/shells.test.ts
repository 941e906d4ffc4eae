import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { localShell } from "@cinch/workspace";
import { launchProcess } from "../../src/processes/launch.ts";
import { CommandGuard } from "../../src/processes/command-guard.ts";
import { bestOfThree } from "../../../testkit/test/best-of-three.ts";
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
} from "./shell-support.ts";

describe("a command of the local shell", { concurrency: 3 }, () => {
  test("returns its exit code, its output by stream, and its duration", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const { exit, stdout, stderr } = await ran(local.shell, "echo out; echo err >&2; exit 3");
    assert.deepEqual({ ...exit, durationMs: 0 }, { code: 3, signal: null, timedOut: false, durationMs: 0 });
    assert.deepEqual({ stdout, stderr }, { stdout: "out\n", stderr: "err\n" });
    assert.ok(exit.durationMs > 0 && exit.durationMs < 10_000);
  });

  test("that a signal ended has no code", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const { exit } = await ran(local.shell, "kill -9 $$");
    assert.deepEqual([exit.code, exit.signal], [null, "SIGKILL"]);
  });

  test("that does not exist exits with 127 and a message on stderr", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const { exit, stderr } = await ran(local.shell, "no-such-command-here");
    assert.equal(exit.code, 127);
    assert.match(stderr, /no-such-command-here: command not found/);
  });

  test("that is too long for the system says what to do instead", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const { exit, stderr } = await ran(local.shell, `: ${"x".repeat(200_000)}`);
    assert.deepEqual([exit.code, stderr.includes("write it to a file")], [127, true]);
  });

  test("runs in the folder of the workspace that it names, and in none outside", async () => {
    using root = folder();
    mkdirSync(join(root.path, "sub dir"));
    symlinkSync("/", join(root.path, "out"));
    await using local = closing(localShell({ root: root.path }));
    assert.equal((await ran(local.shell, "pwd -P", { cwd: "/" })).stdout, `${root.path}\n`);
    assert.equal((await ran(local.shell, "pwd -P", { cwd: "/sub dir" })).stdout, `${root.path}/sub dir\n`);
    assert.equal((await ran(local.shell, "pwd -P", { cwd: "/../../sub dir" })).stdout, `${root.path}/sub dir\n`);
    for (const cwd of ["/out", "/nowhere"]) {
      const { exit, stdout, stderr } = await ran(local.shell, "pwd", { cwd });
      assert.deepEqual([exit.code, stdout], [127, ""]);
      assert.match(stderr, new RegExp(cwd));
    }
  });

  test("in a workspace whose folder was removed says so", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    rmSync(root.path, { recursive: true });
    const { exit, stderr } = await ran(local.shell, "pwd");
    assert.deepEqual([exit.code, stderr], [127, "The folder of this workspace does not exist any more.\n"]);
  });

  test("sees a few variables of the harness, the configured ones, and no key", async () => {
    using root = folder();
    process.env.CINCH_TEST_API_KEY = "secret-value";
    process.env.LC_TEST = "kept";
    await using local = closing(localShell({ root: root.path, env: { ADDED: "yes", LANG: undefined } }));
    const { stdout } = await ran(local.shell, "env");
    delete process.env.CINCH_TEST_API_KEY;
    delete process.env.LC_TEST;
    assert.doesNotMatch(stdout, /secret-value/);
    const names = stdout.split("\n").map((line) => line.split("=")[0]!);
    for (const name of ["PATH", "HOME", "LC_TEST", "ADDED"]) assert.ok(names.includes(name), name);
    assert.ok(!names.includes("LANG"));
    assert.match(stdout, /^TERM=dumb$/m);
  });

  test("has nothing to read unless it is interactive", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    assert.equal((await ran(local.shell, "cat; echo done")).stdout, "done\n");
    const lines: string[] = [];
    const sink = (chunk: Uint8Array) => void lines.push(Buffer.from(chunk).toString());
    const command = { command: "read a; echo first $a; head -n 1 /dev/stdin", cwd: "/" };
    const running = local.shell.start(command, sink, { interactive: true });
    await until(() => processesWith("first $a").length > 0);
    await running.write("one\n");
    await running.write("two\n");
    assert.equal((await running.exit).code, 0);
    await running.write("no person is there any more");
    assert.equal(lines.join(""), "first one\ntwo\n");
  });

  test("prints bytes, whether they are text or not", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const pieces: Uint8Array[] = [];
    const command = { command: String.raw`printf '\377\376\000\303'; sleep 0.05; printf '\274'`, cwd: "/" };
    await local.shell.start(command, (chunk) => void pieces.push(chunk.slice())).exit;
    assert.deepEqual(Buffer.concat(pieces), Buffer.from([0xff, 0xfe, 0, 0xc3, 0xbc]));
  });

  test("keeps the order of both streams exactly if they are combined", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const command = "for i in $(seq 300); do echo out $i; echo err $i >&2; done";
    const { stdout, stderr } = await ran(local.shell, command, { combined: true });
    const expected = Array.from({ length: 300 }, (_, n) => `out ${n + 1}\nerr ${n + 1}\n`).join("");
    assert.deepEqual({ stdout, stderr }, { stdout: expected, stderr: "" });
  });

  test("can open its streams by name, as scripts do", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const { exit, stdout, stderr } = await ran(
      local.shell,
      "echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr",
    );
    assert.deepEqual([exit.code, stdout, stderr], [0, "a\nc\n", "b\nc\n"]);
  });

  test("that closes its output and keeps running is awaited", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const { exit } = await ran(local.shell, "exec >&- 2>&-; sleep 0.4; exit 5");
    assert.equal(exit.code, 5);
    assert.ok(exit.durationMs >= 400);
  });

  test("prints no faster than its sink accepts, one chunk at a time", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    let bytes = 0;
    let asked = 0;
    const sink = async (chunk: Uint8Array) => {
      assert.equal((asked += 1), 1);
      bytes += chunk.length;
      await sleep(20);
      asked -= 1;
    };
    const running = local.shell.start({ command: "yes >&2 & yes", cwd: "/" }, sink);
    await sleep(300);
    assert.ok(bytes < 2_000_000, `${bytes}`);
    await running.stop();
  });

  test("delivers all output to a slow sink, even after it has ended", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    let bytes = 0;
    const sink = async (chunk: Uint8Array) => {
      await sleep(300);
      bytes += chunk.length;
    };
    const { code } = await local.shell.start({ command: "head -c 130000 /dev/zero", cwd: "/" }, sink).exit;
    assert.deepEqual([code, bytes], [0, 130_000]);
  });

  test("is stopped when its sink fails", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const seconds = longSleep();
    const sink = () => {
      throw new Error("full");
    };
    const { signal } = await local.shell.start({ command: `echo x; sleep ${seconds}`, cwd: "/" }, sink).exit;
    assert.equal(signal, "SIGTERM");
    assert.deepEqual(processesWith(seconds), []);
  });

  test("starts with no open file but its three streams", async () => {
    using root = folder();
    const held = ["bash", "-c", 'exec 9</etc/hosts 200</etc/hosts; exec "$@"', "bash"];
    const command = "echo $(ls /proc/self/fd); sleep 100";
    await using harness = await program("shells/shell-harness.ts", ["local", root.path, command], held);
    await harness.kill();
    // The fourth is the folder that ls reads.
    assert.equal(harness.line, "0 1 2 3");
  });
});

/** Ways to leave a command's process group, its session, its environment or its parent behind. */
const strays = (seconds: string): string => `
  sleep ${seconds} &
  setsid sleep ${seconds} &
  nohup sleep ${seconds} >/dev/null 2>&1 &
  env -i setsid sleep ${seconds} >/dev/null 2>&1 </dev/null &
  (setsid bash -c 'env -i setsid sleep ${seconds} & disown' &)
  setsid bash -c "trap '' TERM HUP; sleep ${seconds}; sleep ${seconds}" &
`;

const linux = { skip: process.platform !== "linux" && "processes are looked for in /proc", concurrency: 3 };

describe("everything that a command started ends", linux, () => {
  const ways = {
    "when it takes too long": { timeoutMs: 1_000 },
    "when the signal is aborted": { abort: true },
    "when it is stopped": { stop: true },
  };
  for (const [when, way] of Object.entries(ways)) {
    test(when, async () => {
      using root = folder();
      await using local = closing(localShell({ root: root.path }));
      const seconds = longSleep();
      const abort = new AbortController();
      const timeoutMs = "timeoutMs" in way ? way.timeoutMs : undefined;
      const command = {
        command: `${strays(seconds)} wait; sleep ${seconds}`,
        cwd: "/",
        timeoutMs,
        signal: abort.signal,
      };
      const running = local.shell.start(command, () => {});
      // On a busy machine the timeout may come first.
      if (timeoutMs === undefined) await until(() => processesWith(`sleep\0${seconds}`).length >= 6);
      if ("abort" in way) abort.abort();
      if ("stop" in way) await running.stop();
      const { code, timedOut, durationMs } = await running.exit;
      assert.deepEqual(processesWith(seconds), []);
      assert.deepEqual([code, timedOut], [null, "timeoutMs" in way]);
      assert.ok(durationMs < 30_000, `${durationMs}`);
    });
  }

  test("when the command itself has ended, except processes that finish their output", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const seconds = longSleep();
    const left = await ran(local.shell, `${strays(seconds)} echo over`);
    assert.deepEqual([left.exit.code, left.exit.leftBehind, left.stdout], [0, true, "over\n"]);
    assert.deepEqual(processesWith(seconds), []);
    const tee = await inTime(
      () => ran(local.shell, "echo word > >(sleep 0.05; cat)"),
      ({ exit }) => !exit.leftBehind,
    );
    assert.deepEqual([tee.exit.leftBehind, tee.stdout], [undefined, "word\n"]);
  });

  test("half a second after SIGTERM, unless it has ended before", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const trap = "trap 'sleep 0.1; echo bye; exit 7' TERM; echo ready; while :; do sleep 0.02; done";
    const polite = await inTime(
      () => stopped(local.shell, trap),
      ({ exit }) => exit.code === 7,
    );
    assert.deepEqual([polite.exit.code, polite.printed], [7, "bye\n"]);
    const stubborn = await stopped(local.shell, "trap '' TERM; echo ready; while :; do sleep 0.02; done");
    assert.equal(stubborn.exit.signal, "SIGKILL");
    assert.ok(stubborn.exit.durationMs >= 490, `${stubborn.exit.durationMs}`);
  });

  test("also when its sink does not settle", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const running = local.shell.start({ command: "yes", cwd: "/" }, () => new Promise(() => {}));
    await sleep(100);
    const began = performance.now();
    await running.stop();
    assert.ok(performance.now() - began < 30_000);
  });

  test("and is not even started if it was aborted before", async () => {
    using root = folder();
    await using local = closing(localShell({ root: root.path }));
    const { exit } = await ran(local.shell, "touch here", { signal: AbortSignal.abort() });
    assert.deepEqual([exit.code, exit.signal], [null, "SIGTERM"]);
    assert.equal((await ran(local.shell, "ls")).stdout, "");
  });

  test("when the shell is closed, which then starts nothing more", async () => {
    using root = folder();
    const shell = localShell({ root: root.path });
    const seconds = longSleep();
    const running = shell.start({ command: `${strays(seconds)} wait`, cwd: "/" }, () => {});
    await until(() => processesWith(`sleep\0${seconds}`).length >= 6);
    await shell.close?.();
    assert.equal((await running.exit).signal, "SIGTERM");
    assert.deepEqual(processesWith(seconds), []);
    const { exit, stderr } = await ran(shell, "true");
    assert.deepEqual([exit.code, stderr], [127, "This shell is closed.\n"]);
  });

  test("within two seconds after kill -9 of the harness, and so does the guard", async () => {
    await bestOfThree(2_000, async () => {
      using root = folder();
      const seconds = longSleep();
      const command = `${strays(seconds)} echo \${CINCH_COMMAND##* }; wait`;
      await using harness = await program("shells/shell-harness.ts", ["local", root.path, command]);
      const guard = `cinch-guard\0${harness.line.slice(0, 9)}\0`;
      await until(() => processesWith(`sleep\0${seconds}`).length >= 6);
      assert.equal(processesWith(guard).length, 1);
      await harness.kill();
      const since = performance.now();
      assert.deepEqual(await untilNone(`sleep\0${seconds}`), []);
      assert.deepEqual(await untilNone(guard), []);
      return performance.now() - since;
    });
  });

  test("even processes of a harness that is itself a command", async () => {
    using root = folder();
    // Its guard ends with it, before it could remove its folder.
    await using local = closing(localShell({ root: root.path, env: { TMPDIR: root.path } }));
    const seconds = longSleep();
    const inner = `setsid bash -c "trap '' TERM HUP; sleep ${seconds}; sleep ${seconds}" & echo ready; wait`;
    const words = [
      process.execPath,
      "-C",
      "@cinch/source",
      join(import.meta.dirname, "shell-harness.ts"),
      "local",
      root.path,
      inner,
    ];
    const command = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
    await stopped(local.shell, `trap '' TERM; ${command}`);
    assert.deepEqual(processesWith(`sleep\0${seconds}`), []);
  });

  test("because it carries a mark, also with a shell other than bash", async () => {
    using root = folder();
    const guard = new CommandGuard();
    const argv = ["/bin/sh", "-c", "env -i grep locks /proc/self/limits"];
    const hostPath = process.env.PATH ?? "";
    const launch = { argv, env: {}, cwd: root.path, guard, shell: "/bin/sh", hostPath, folder: root.path };
    const { tree, exited, outputs } = await launchProcess(launch, { input: false, outputs: 1 });
    let printed = "";
    await outputs[0]!.read(async (chunk) => void (printed += Buffer.from(chunk).toString()));
    assert.equal((await exited).code, 0);
    assert.match(printed, new RegExp(` ${tree.mark} +${tree.mark} `));
    guard.close();
  });
});

test("a hundred megabytes of output go through and into a file, and memory does not grow with them", async () => {
  using root = folder();
  await using flood = await program("shells/shell-flood.ts", [root.path, join(root.path, "outputs")]);
  await flood.exited;
  const { code, saved, grown } = JSON.parse(flood.line) as { code: number; saved: number; grown: number };
  assert.deepEqual([code, saved], [0, 104_857_600 + "ready\n".length]);
  assert.ok(grown < 32 * 1024 * 1024, `${grown}`);
  const whole = readFileSync(join(root.path, "outputs", "flood.txt"));
  const line = "0123456789\n";
  assert.equal(whole.subarray(0, 28).toString(), `ready\n${line}${line}`);
  assert.equal(whole.subarray(-3).toString(), (line + line).slice((104_857_600 - 3) % line.length).slice(0, 3));
});
