import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { MemoryData } from "@cinch/core/store";
import { memoryStore, type HarnessEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { createWorkspace, localWorkspace, memoryBackend, type LocalWorkspaceOptions } from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";
import { type Answer, type Call, commandDesk, type CommandDesk } from "./command-desk.ts";
import { bubblewrap, sandboxRuntime } from "../../sandboxes/sandboxes.ts";
import { folder, longSleep, processesWith, program, until, untilNone, without } from "../../shells/shell-support.ts";

interface Seat extends AsyncDisposable {
  desk: CommandDesk;
  root: string;
}

async function seat(options: Partial<LocalWorkspaceOptions> = {}): Promise<Seat> {
  const place = folder();
  const outputs = join(place.path, "outputs");
  const root = folder();
  const desk = await commandDesk(localWorkspace({ root: root.path, sandbox: "none", cache: outputs, ...options }));
  return {
    desk,
    root: root.path,
    async [Symbol.asyncDispose]() {
      await desk.harness.close();
      root[Symbol.dispose]();
      place[Symbol.dispose]();
    },
  };
}

/** The output alone, without the note of the tool. */
const shown = ({ text }: Answer): string => text.split("\n").slice(1, -1).join("\n");

const kinds = [
  { title: "as a process", why: false as const, sandbox: () => "none" as const },
  { title: "in bubblewrap", why: bubblewrap.why, sandbox: () => bubblewrap.lend() },
  { title: "in sandbox-runtime", why: sandboxRuntime.why, sandbox: () => sandboxRuntime.lend() },
];

for (const { title, why, sandbox } of kinds) {
  describe(`a background command ${title}`, { skip: why }, () => {
    test("starts at once, can be followed, gets input, and reports its end", async () => {
      await using at = await seat({ sandbox: sandbox() });
      const { desk } = at;
      const id = await desk.start("echo ready; read x; echo got $x; exit 3");
      assert.match(id, /^cmd-\d+$/);
      await desk.printed(id, "ready\n");
      assert.match((await desk.ok("execute_output", { id, wait_ms: 0 })).text, /still running\. Nothing new; 6 bytes/);
      await desk.ok("execute_input", { id, text: "word\n" });
      const end = await desk.ok("execute_output", { id, wait_ms: 10_000 });
      const whole = end.details["exit"] ? end : await desk.ok("execute_output", { id, wait_ms: 10_000 });
      assert.match(whole.text, /^cmd-\d+: Exit code 3 after/);
      const path = String(whole.details["output"]);
      assert.match((await desk.ok("read_file", { file_path: path })).text, /1\tready\n +2\tgot word/);
      assert.match(await desk.fails("execute_input", { id, text: "more\n" }), /has ended/);
    });

    test("may be an interactive program", { skip: without("python3") }, async () => {
      await using at = await seat({ sandbox: sandbox() });
      const id = await at.desk.start("python3 -i -u");
      await at.desk.printed(id, ">>> ");
      await at.desk.ok("execute_input", { id, text: "print(6 * 7)\n" });
      await at.desk.printed(id, "42\n");
      await at.desk.ok("execute_input", { id, text: "exit(5)\n" });
      assert.match(await at.desk.printed(id, "Exit code 5"), /Exit code 5/);
    });

    test("takes input that is given before it has started", async () => {
      await using at = await seat({ sandbox: sandbox() });
      const id = await at.desk.start("cat");
      await at.desk.ok("execute_input", { id, text: "early\n" });
      await at.desk.printed(id, "early\n");
    });

    test("is stopped with everything that it started", async () => {
      await using at = await seat({ sandbox: sandbox() });
      const seconds = longSleep();
      const id = await at.desk.start(`trap '' TERM; setsid sleep ${seconds} & echo ready; sleep ${seconds}`);
      await at.desk.printed(id, "ready\n");
      const { text } = await at.desk.ok("execute_stop", { id });
      assert.match(text, /Ended by SIGKILL|Exit code (137|143)/);
      assert.deepEqual(processesWith(seconds), []);
      assert.match((await at.desk.ok("execute_stop", { id })).text, /Nothing new/);
    });

    test("ends with the harness", async () => {
      const seconds = longSleep();
      {
        await using at = await seat({ sandbox: sandbox() });
        const id = await at.desk.start(`setsid sleep ${seconds} & echo ready; sleep ${seconds}`);
        await at.desk.printed(id, "ready\n");
      }
      assert.deepEqual(processesWith(seconds), []);
    });

    test("does not survive the harness, not even kill -9 of it", async () => {
      using root = folder();
      using outputs = folder();
      const seconds = longSleep();
      const kind = title.includes("bubblewrap") ? "bwrap" : title.includes("runtime") ? "srt" : "none";
      const command = `setsid sleep ${seconds} & echo ready; sleep ${seconds}`;
      await using harness = await program("tools/execute/background-harness.ts", [
        kind,
        root.path,
        outputs.path,
        command,
      ]);
      assert.equal(harness.line, "ready");
      assert.ok(processesWith(seconds).length > 0);
      await harness.kill();
      assert.deepEqual(await untilNone(seconds), []);
    });
  });
}

describe("a background command", () => {
  test("outlives its turn, also one that is aborted", async () => {
    await using at = await seat();
    const { harness } = at.desk;
    const id = await at.desk.start("while read x; do echo got $x; done");
    const begun = new Promise<void>((resolve) => {
      harness.subscribe((event: HarnessEvent) => void (event.type === "tool_start" && resolve()));
    });
    const turn = at.desk.calls(harness, ["execute_output", { id, wait_ms: 60_000 }]);
    await begun;
    await harness.abort();
    await turn;
    await at.desk.ok("execute_input", { id, text: "still there\n" });
    await at.desk.printed(id, "got still there\n");
  });

  test("loses no output while a call that follows it is aborted", async () => {
    await using at = await seat();
    const { harness } = at.desk;
    const abortedLook = async (): Promise<string> => {
      const id = await at.desk.start("while :; do echo tick; sleep 0.02; done");
      const turn = at.desk.calls(harness, ["execute_output", { id, wait_ms: 60_000 }]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await harness.abort();
      const [look] = await turn;
      // A pause in the output ends a look. On a busy machine, that can be before it is aborted.
      return look?.isError === false ? abortedLook() : id;
    };
    const id = await abortedLook();
    const { details } = await at.desk.ok("execute_output", { id, wait_ms: 0 });
    assert.equal(details["from"], 0);
  });

  test("of another thread does not exist: it can't be followed, answered or stopped", async () => {
    await using at = await seat();
    const id = await at.desk.start("read x; echo got $x");
    const other = await at.desk.harness.createSession();
    await other.createThread();
    const answers = await at.desk.calls(
      other,
      ["execute_output", { id }],
      ["execute_input", { id, text: "evil\n" }],
      ["execute_stop", { id }],
    );
    for (const { text, isError } of answers) {
      assert.equal(isError, true);
      assert.match(text, new RegExp(`There is no command ${id} of this thread`));
    }
    assert.match((await at.desk.ok("execute_output", { id, wait_ms: 0 })).text, /still running\. Nothing new/);
  });

  for (const kind of ["memory", "sqlite"]) {
    test(`ends when its thread is deleted, by whichever process (${kind})`, async () => {
      using root = folder();
      using store = folder();
      const data = new MemoryData();
      const storage = () => (kind === "memory" ? memoryStore(data) : sqliteStore({ path: join(store.path, "s.db") }));
      const workspace = () => localWorkspace({ root: root.path, sandbox: "none", cache: join(store.path, "o") });
      await using desk = await commandDesk(workspace(), { storage: storage() });
      const seconds = longSleep();
      const id = await desk.start(`echo ready; sleep ${seconds}`);
      await desk.printed(id, "ready\n");
      const kept = desk.harness.getCurrentThreadId()!;
      await desk.harness.createThread();
      const other = longSleep();
      await desk.printed(await desk.start(`echo ready; sleep ${other}`), "ready\n");
      await using beside = await commandDesk(workspace(), { storage: storage() });
      await beside.harness.deleteThread({ threadId: desk.harness.getCurrentThreadId()! });
      assert.deepEqual(await untilNone(other), []);
      assert.ok(processesWith(seconds).length > 0);
      await beside.harness.deleteThread({ threadId: kept });
      assert.deepEqual(await untilNone(seconds), []);
    });
  }

  test("is reported as ended after a restart of the harness, and its output can be read", async () => {
    using root = folder();
    using outputs = folder();
    const data = new MemoryData();
    const options = { root: root.path, sandbox: "none" as const, cache: outputs.path };
    let id: string;
    let threadId: string;
    {
      await using before = await commandDesk(localWorkspace(options), { storage: memoryStore(data) });
      id = await before.start("echo precious; sleep 1000");
      await before.printed(id, "precious\n");
      threadId = before.harness.getCurrentThreadId()!;
    }
    await using desk = await commandDesk(localWorkspace(options), { storage: memoryStore(data) });
    await desk.harness.switchThread({ threadId });
    const text = await desk.fails("execute_output", { id });
    assert.match(text, /is not running in this process: it ended, or another process.*9 bytes, is in/);
    const path = /\/\.cinch\/output\/\w+\.txt/.exec(text)![0];
    assert.match((await desk.ok("read_file", { file_path: path })).text, /precious/);
    assert.match(await desk.fails("execute_input", { id, text: "x" }), /is not running/);
    assert.match(await desk.fails("execute_stop", { id }), /is not running/);
    const next = await desk.start("true");
    assert.notEqual(next, id);
    assert.match(await desk.fails("execute_output", { id: "cmd-999999" }), /There is no command cmd-999999/);
  });

  test("is not said to have ended while the process that started it has it", async () => {
    using root = folder();
    using outputs = folder();
    const data = new MemoryData();
    const options = { root: root.path, sandbox: "none" as const, cache: outputs.path };
    await using first = await commandDesk(localWorkspace(options), { storage: memoryStore(data) });
    const id = await first.start("echo ready; sleep 1000");
    await first.printed(id, "ready\n");
    await using second = await commandDesk(localWorkspace(options), { storage: memoryStore(data) });
    await second.harness.switchThread({ threadId: first.harness.getCurrentThreadId()! });
    assert.match(
      await second.fails("execute_output", { id }),
      /it ended, or another process .* still runs it; .* 6 bytes, is in/,
    );
  });

  test("is limited in number: the seventeenth is refused until one has ended", async () => {
    await using at = await seat();
    const start: Call = ["execute", { command: "sleep 1000", background: true }];
    const answers = await at.desk.calls(at.desk.harness, ...Array.from({ length: 17 }, () => start));
    const refused = answers.filter(({ isError }) => isError);
    assert.equal(refused.length, 1);
    assert.match(
      refused[0]!.text,
      /16 commands of this thread run in the background already\. End one with execute_stop/,
    );
    const id = String(answers.find(({ isError }) => !isError)!.details["id"]);
    assert.equal(new Set(answers.map(({ details }) => details["id"])).size, 17);
    await at.desk.ok("execute_stop", { id });
    await at.desk.start("true");
  });

  test("is forgotten after many others have ended, but its output is kept", async () => {
    await using at = await seat();
    const first = await at.desk.start("echo first");
    await at.desk.printed(first, "Exit code 0");
    for (let batch = 0; batch < 7; batch++) {
      const others = Array.from({ length: 11 }, (): Call => ["execute", { command: "true", background: true }]);
      for (const { details } of await at.desk.calls(at.desk.harness, ...others))
        await at.desk.printed(String(details["id"]), "Exit code 0");
    }
    assert.match(await at.desk.fails("execute_output", { id: first }), /is not running.* 6 bytes, is in/);
  });

  test("is ended after timeout_ms if that is given", async () => {
    await using at = await seat();
    const id = await at.desk.start("sleep 1000", { timeout_ms: 200 });
    assert.match(await at.desk.printed(id, "time limit"), /Ended by the time limit, after \d+\.\d s/);
  });

  test("that does not read its input blocks no call, and gets no more input", async () => {
    await using at = await seat();
    const id = await at.desk.start("sleep 1000");
    const text = "x".repeat(60_000);
    let answer = await at.desk.call("execute_input", { id, text });
    while (answer.text.startsWith("Written")) answer = await at.desk.call("execute_input", { id, text });
    assert.match(answer.text, /does not read at the moment: 60000 characters wait/);
    assert.match(await at.desk.fails("execute_input", { id, text }), /This was not written/);
  });

  test("prints characters whole, and no control sequences", async () => {
    await using at = await seat();
    // One write, so that the first look finds the beginning of the character.
    const parts = String.raw`printf 'first\n\342\202'; read x; printf '\254\033[31mred\033[0m\n'`;
    const id = await at.desk.start(`${parts}; read x`);
    const first = await at.desk.ok("execute_output", { id, wait_ms: 10_000 });
    assert.equal(shown(first), "first\n");
    await at.desk.ok("execute_input", { id, text: "\n" });
    const second = await at.desk.ok("execute_output", { id, wait_ms: 10_000 });
    assert.equal(shown(second), "€red\n");
    assert.deepEqual([second.details["from"], first.details["to"]], [6, 6]);
  });

  test("that prints much between two calls shows the end of it, and the path of the rest", async () => {
    await using at = await seat();
    const id = await at.desk.start("echo begin; read x; seq 1 100000; echo end; read x");
    await at.desk.printed(id, "begin\n");
    await at.desk.ok("execute_input", { id, text: "\n" });
    // A pause in the output ends a look, so the look comes after all of it.
    await until(() => at.desk.workspace.backgroundCommands()[0]!.output.endsWith("\nend\n"));
    const { text, details } = await at.desk.ok("execute_output", { id, wait_ms: 10_000 });
    assert.ok(text.length < 40_000);
    assert.match(text, /bytes left out here; the whole output, 588905 bytes, is in \/\.cinch\/output/);
    assert.match(text, /\n99999\n100000\nend\n/);
    assert.match(
      (await at.desk.ok("grep", { pattern: "77777", path: details["output"], output_mode: "content" })).text,
      /:77778:77777/,
    );
  });

  test("needs approval for its input where nothing protects the machine; one answer covers that command", async () => {
    using root = folder();
    using outputs = folder();
    const workspace = localWorkspace({ root: root.path, sandbox: "none", cache: outputs.path });
    const permissions = [{ category: "execute" as const, policy: "allow" as const }];
    await using desk = await commandDesk(workspace, { initialState: { yolo: false }, permissions });
    const asked: [string, string | null | undefined][] = [];
    desk.harness.subscribe((event) => {
      if (event.type !== "tool_approval_required") return;
      asked.push([event.toolName, event.suggestion]);
      const decision = event.toolName === "execute" ? "approve" : "always_allow_tool";
      desk.harness.respondToToolApproval({ decision }).catch(assert.fail);
    });
    const id = await desk.start("cat");
    await desk.ok("execute_input", { id, text: "a\n" });
    await desk.ok("execute_input", { id, text: "b\n" });
    await desk.printed(id, "b\n");
    await desk.ok("execute_stop", { id });
    assert.deepEqual(asked, [
      ["execute", undefined],
      ["execute_input", id],
    ]);
  });

  test("in a virtual shell has no standard input, and the result says so", async () => {
    using outputs = folder();
    const backend = memoryBackend();
    await using desk = await commandDesk(
      createWorkspace({ backend, shell: virtualShell({ backend }), cache: outputs.path }),
    );
    const id = await desk.start("sleep 1000; echo done");
    assert.match(await desk.fails("execute_input", { id, text: "x\n" }), /takes no input.*this shell gives it none/);
    await desk.ok("execute_stop", { id });
    const other = await desk.start("echo done");
    await desk.printed(other, "done\n");
  });

  test("that can't be started says why", async () => {
    await using at = await seat();
    const id = await at.desk.start("true", { cwd: "/nowhere" });
    assert.match(await at.desk.printed(id, "Exit code 127"), /There is no folder \/nowhere/);
  });

  test("can follow a file that another command writes", async () => {
    await using at = await seat();
    writeFileSync(join(at.root, "log"), "");
    const id = await at.desk.start("tail -f log");
    await at.desk.ok("execute", { command: "sleep 0.2; echo line >> log" });
    await at.desk.printed(id, "line\n");
  });
});
