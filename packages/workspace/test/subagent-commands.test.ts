import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Harness, type HarnessConfig } from "@cinch/core";
import { call, hang, say, script, scriptedBy, type Step } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";
import { bestOfThree } from "../../testkit/test/best-of-three.ts";

/** Commands with this word in their arguments, and all that they have started. */
class Marked {
  readonly #mark = `mark-${randomUUID()}`;

  /** A command that starts two others and waits. Its children must end, too. */
  command(name: string): string {
    return `sh -c 'sleep 600; : ${this.#mark} ${name}' & sh -c 'sleep 600; : ${this.#mark} ${name}' & wait`;
  }

  get running(): number {
    const commands = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid));
    return commands.filter((pid) => commandLine(pid).includes(this.#mark)).length;
  }

  async until(condition: (running: number) => boolean): Promise<void> {
    while (!condition(this.running)) await pause(10);
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function harness(t: TestContext, agent: Agent, more: Partial<HarnessConfig> = {}): Harness {
  const root = mkdtempSync(join(tmpdir(), "cinch-test-"));
  const workspace = localWorkspace({ root, sandbox: "none" });
  const h = new Harness({ id: "t", agent, workspace, initialState: { yolo: true }, ...more });
  t.after(async () => {
    await h.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 9 });
  });
  return h;
}

const inBackground = (command: string): [string, unknown] => ["execute", { command, background: true }];

test("an abort ends the commands of all descendants within 2 s, also those in the background", async (t) => {
  await bestOfThree(2_000, async () => {
    const marked = new Marked();
    const search = new Agent({
      name: "search",
      model: script(call(inBackground(marked.command("c")), ["execute", { command: marked.command("d") }])),
    });
    const explore = new Agent({
      name: "explore",
      model: script(call(inBackground(marked.command("a"))), call("task", { agent: "search", prompt: "Search" })),
      subagents: [search],
    });
    const aside = new Agent({ name: "aside", model: script(call(inBackground(marked.command("b"))), hang("…")) });
    const model = script(
      call("task", { agent: "aside", prompt: "Beside", background: true, session: { mode: "new" } }),
      call("task", { agent: "explore", prompt: "Explore" }),
    );
    const subagents = [explore, aside];
    const dev = new Agent({
      name: "dev",
      model,
      subagents,
      maxSubagentDepth: 2,
      subagentBackground: true,
      subagentSessions: true,
    });
    const h = harness(t, dev);
    const turn = h.sendMessage({ content: "go" });
    await marked.until((running) => running >= 8);
    const since = performance.now();
    await h.abort();
    while (marked.running > 0) await pause(10);
    const ms = performance.now() - since;
    assert.equal((await turn).reason, "aborted");
    return ms;
  });
});

test("agent_cancel ends the background commands of the subagent that it stops", async (t) => {
  const marked = new Marked();
  const server = new Agent({ name: "server", model: script(call(inBackground(marked.command("a"))), hang("…")) });
  const cancel: Step = async function* (options) {
    await marked.until((running) => running >= 2);
    yield* call("agent_cancel", { ids: ["bg-1"] })(options) as Iterable<never>;
  };
  const left: number[] = [];
  const model = script(call("task", { agent: "server", prompt: "Serve", background: true }), cancel, (options) => {
    left.push(marked.running);
    return say("Stopped.")(options);
  });
  const h = harness(t, new Agent({ name: "dev", model, subagents: [server], subagentBackground: true }));
  await h.sendMessage({ content: "go" });
  assert.deepEqual(left, [0]);
});

test("the background commands of a subagent end with its run, and those of a session stay", async (t) => {
  for (const mode of ["stateless", "new"] as const) {
    const marked = new Marked();
    const server = new Agent({
      name: "server",
      model: scriptedBy(({ prompt }) => {
        if (prompt.at(-1)?.role === "user") return call(inBackground(marked.command("a")));
        return async function* (options) {
          await marked.until((running) => running >= 2);
          yield* say("It serves.")(options);
        };
      }),
    });
    const own = new Marked();
    const model = script(
      call(inBackground(own.command("a"))),
      call("task", { agent: "server", prompt: "Serve", session: { mode } }),
      say("Done."),
    );
    const h = harness(t, new Agent({ name: "dev", model, subagents: [server], subagentSessions: true }));
    await h.sendMessage({ content: "go" });
    assert.deepEqual([marked.running > 0, own.running > 0], [mode === "new", true], mode);
    await h.close();
    assert.deepEqual([marked.running, own.running], [0, 0], mode);
  }
});
