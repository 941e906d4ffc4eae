import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, CinchError, defineTool, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, crashWhenEmitted, say, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";

/**
 * A process at thread "t" of a store: `tree FOLDER`. A line "go" on its input lets it order a tree of subagents; without one it only
 * watches. It answers what the tree asks, and ends when the tree has ended, or at `CRASH_AT`.
 */
const [folder = ""] = process.argv.slice(2);
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const input = z.object({ what: z.string() });

const ran = (tool: string, key: string, what: string) => appendFileSync(`${folder}/ledger`, `${tool} ${key} ${what}\n`);
const hasRun = (tool: string): boolean =>
  existsSync(`${folder}/ledger`) && readFileSync(`${folder}/ledger`, "utf8").includes(`${tool} `);

const once = defineTool({
  description: "Has an effect",
  input,
  execute: ({ what }, { key }) => {
    ran("once", key, what);
    return `did ${what}`;
  },
});
const guarded = defineTool({
  description: "Asks before it has an effect",
  category: "execute",
  input,
  execute: ({ what }, { key }) => {
    ran("guarded", key, what);
    return `did ${what}`;
  },
});
const lasting = defineTool({
  description: "Runs until a file named go exists",
  effect: "idempotent",
  input,
  async execute({ what }, { key, signal }) {
    ran("lasting", key, what);
    while (!existsSync(`${folder}/go`) && !signal.aborted) await pause(5);
    return `did ${what}`;
  },
});

/** Each order of the parent or of a child. At most two children are at work in the background. */
const background = (...whats: string[]) =>
  call(
    ...whats.map((what): [string, unknown] => ["task", { agent: "worker", prompt: `DO ${what}`, background: true }]),
  );
const orders: Record<string, Step[]> = {
  tree: [
    background("ended"),
    call("task", { agent: "worker", prompt: "DO front" }),
    background("running", "asking"),
    background("queued"),
    say("started"),
  ],
  ended: [call("once", { what: "ended" }), say("ended is done")],
  front: [call("once", { what: "front" }), say("front is done")],
  running: [call("lasting", { what: "running" }), say("running is done")],
  asking: [call("guarded", { what: "asking" }), say("asking is done")],
  queued: [call("once", { what: "queued" }), say("queued is done")],
};

const model = scriptedBy(({ prompt }) => {
  const texts = prompt.map((message) =>
    message.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n") : "",
  );
  const at = texts.findLastIndex((text) => text.startsWith("DO "));
  const answers = prompt.slice(at).filter(({ role }) => role === "assistant").length;
  return orders[texts[at]?.slice(3) ?? ""]?.[answers] ?? say("seen");
});

const worker = new Agent({ name: "worker", model, tools: { once, guarded, lasting } });
const lead = new Agent({
  name: "lead",
  model,
  subagents: [worker],
  subagentBackground: { maxConcurrent: 2, autoCancel: false },
});
const h = new Harness({
  id: "tree",
  storage: sqliteStore({ path: `${folder}/cinch.db`, renewMs: 200, periodMs: 1_500 }),
  agent: lead,
  permissions: [{ category: "other", policy: "allow" }],
});
crashWhenEmitted(h);
await h.init();
await h.switchThread({ threadId: "t" });
print({ ready: true });

const lines = createInterface({ input: process.stdin });
lines.once("line", () => h.post({ id: "tree", content: "DO tree", delivery: "send" }));

/** The tree was ordered, and everything in it has ended. */
const isOver = ({ status, inbox, messages }: ReturnType<typeof h.getDisplayState>): boolean =>
  status === "idle" && inbox.length === 0 && messages.length > 0;

while (!isOver(h.getDisplayState())) {
  const [asked] = Object.values(h.getDisplayState().pendingApprovals);
  // From here on the four are as the test wants them: one has ended, one runs, one asks, and one is queued.
  if (asked && hasRun("lasting")) {
    writeFileSync(`${folder}/answering`, "");
    const { threadId, toolCallId, digest } = asked;
    await h.respondToToolApproval({ threadId, toolCallId, digest, decision: "approve" }).catch(tooLate);
  } else if (!asked && existsSync(`${folder}/answering`)) writeFileSync(`${folder}/go`, "");
  await pause(5);
}
print({ over: true });
lines.close();
await h.close();

function tooLate(error: unknown): void {
  const isExpected = error instanceof CinchError && /^(NOT_PENDING|ALREADY_ANSWERED)$/.test(error.code);
  if (!isExpected) throw error;
}
