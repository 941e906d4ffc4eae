import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Agent, defineTool, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script } from "@cinch/testkit";
import { Place } from "./cli.ts";
import { holding } from "./held-sleep.ts";

const question = defineTool({
  description: "Asks the person.",
  input: { type: "object" },
  execute: (_input, { suspend }) => suspend({ question: "May I?" }),
});

/** Another program that uses the same file. */
function program(place: Place, { onRecover = "resume" }: { onRecover?: "resume" | "pause" } = {}): Harness {
  place.trust();
  const model = script(call("question", {}), say("done"));
  const agent = new Agent({ name: "other", model, tools: { question } });
  const storage = sqliteStore({ path: join(place.folder, ".cinch", "cinch.db") });
  return new Harness({ id: "other", storage, agent, onRecover, permissions: [{ category: "other", policy: "allow" }] });
}

describe("threads that need a person", { concurrency: 2 }, () => {
  test("a run at a thread that waits for an answer exits with 3, and queues its prompt", async () => {
    await using place = new Place();
    const other = program(place);
    const waiting = new Promise<void>((resolve) => {
      other.subscribe((event) => event.type === "tool_suspended" && resolve());
    });
    await other.post({ content: "ask me", delivery: "send" });
    await waiting;
    await other.close();
    const bare = await place.run(["run", "--continue"]);
    assert.deepEqual([bare.code, bare.stdout], [3, ""]);
    assert.match(bare.stderr, /waits for a person/);
    const said = await place.run(["run", "--continue", "hello"]);
    assert.deepEqual([said.code, said.stdout], [3, ""]);
    assert.match(said.stderr, /1 queued and not answered yet/);
  });

  test("a prompt for a parked thread exits with 3, and --continue without one resumes it", async () => {
    await using place = new Place();
    const running = place.start(["run", "wait 0.5 seconds"], { env: holding({ ms: 500 }) });
    await running.prints(/→ wait/);
    running.child.kill("SIGKILL");
    await running.finished;
    const other = program(place, { onRecover: "pause" });
    await other.selectOrCreateThread();
    assert.equal(other.getDisplayState().status, "parked");
    await other.close();
    const said = await place.run(["run", "--continue", "what is 6*7?"]);
    assert.deepEqual([said.code, said.stdout], [3, ""]);
    assert.match(said.stderr, /parked; to resume it: cinch run --thread thread_\w+/);
    const on = await place.run(["run", "--continue"]);
    assert.deepEqual([on.code, on.stdout], [0, "I waited for 0.5 s.\nI use calculate for that.\n6*7 = 42.\n"]);
    assert.match(on.stderr, /> what is 6\*7\?/);
  });
});
