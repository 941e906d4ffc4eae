import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import {
  Agent,
  CinchError,
  defineTool,
  Harness,
  type DurableEvent,
  type Effect,
  type HarnessConfig,
  type Store,
  type ThreadRecord,
  type ToolDefinition,
} from "@cinch/core";
import * as z from "zod";
import { call, fail, hang, say, scriptedBy, type Step } from "../model.ts";
import { controlOrders, forbid, playControl } from "./control.ts";
import { learn, memoryOrders, playMemory, tortureMemory } from "./memory.ts";
import { until } from "./until.ts";

/** The steps of the scripted model for each order of the user. */
const orders: Record<string, Step[]> = {
  work: [
    call("once", { what: "alone" }),
    call(["pure", { what: "p" }], ["idempotent", { what: "i" }], ["once", { what: "beside" }]),
    call("ask", { what: "Which?" }),
    say("worked"),
  ],
  aftr: [say("after, misspelt")],
  after: [call("jot", { what: "a note" }), say("after")],
  gone: [say("gone")],
  fail: [fail(Object.assign(new Error("bad request"), { statusCode: 400 }))],
  hang: [hang("thinking")],
  team: [
    call(
      ["task", { agent: "helper", prompt: "DO help" }],
      ["task", { agent: "helper", prompt: "DO help", background: true }],
    ),
    call("agent_await", { ids: ["bg-1"], mode: "allSettled" }),
    say("the team is done"),
  ],
  help: [call("once", { what: "in a child" }), say("helped")],
  ...memoryOrders,
  ...controlOrders,
  clone: [call(["once", { what: "in the clone" }], ["forbidden", { what: "nowhere" }]), say("cloned")],
};

const model = scriptedBy(({ prompt }) => {
  let answers = 0;
  for (const message of prompt.toReversed()) {
    if (message.role === "assistant") answers++;
    if (message.role !== "user") continue;
    const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    const order = texts.findLast((text) => text.startsWith("DO "));
    if (order) return orders[order.slice(3)]?.[answers] ?? say("nothing left to do");
  }
  return say("no order");
});

/** So many lines that the result is offloaded. */
const OFFLOADED_LINES = 20_000;

/** Each run of a tool adds a line to the ledger: the tool, its key and its argument. */
function tools(ledger: string) {
  const input = z.object({ what: z.string() });
  type What = z.infer<typeof input>;
  const tool = (name: string, effect: Effect, more: Partial<ToolDefinition<What>> = {}) =>
    defineTool({
      description: name,
      effect,
      input,
      async execute({ what }, { key }) {
        appendFileSync(ledger, `${name} ${key} ${what}\n`);
        await new Promise((resolve) => setTimeout(resolve, 2));
        return `did ${what}\n`.repeat(name === "idempotent" ? OFFLOADED_LINES : 1);
      },
      ...more,
    });
  const ask = defineTool({
    description: "ask",
    effect: "pure",
    input,
    execute: ({ what }, { suspend, resumed }) =>
      resumed ? `answered ${String(resumed.data)}` : suspend({ question: what }),
  });
  const jot = defineTool({
    description: "jot",
    effect: "idempotent",
    input,
    async execute({ what }, { files }) {
      const bytes = new TextEncoder().encode(what);
      const hash = createHash("sha256").update(bytes).digest("hex");
      const after = { hash, size: bytes.length, parts: [{ blob: hash, size: bytes.length }] };
      const path = "/jotted";
      const isNew = await files.record(
        (held) => {
          const before = held[path]?.version ?? null;
          return before?.hash === hash ? null : [{ path, operation: "write", before, after, held: true }];
        },
        [{ hash, bytes }],
      );
      return isNew ? "jotted" : "already jotted";
    },
  });
  return {
    jot,
    learn,
    pure: tool("pure", "pure"),
    idempotent: tool("idempotent", "idempotent"),
    once: tool("once", "once"),
    ask,
    guarded: tool("guarded", "once", {
      category: "execute",
      suggest: ({ what }) => what,
      preview: ({ what }) => ({ what }),
      matches: (pattern, { what }) => (pattern === what ? "all" : "none"),
    }),
    forbidden: tool("forbidden", "once"),
  };
}

/** Two modes share an agent and one has its own. The first has the id that the only mode of a single-agent harness has. */
export function tortureHarness(
  storage: Store,
  ledger: string,
  options: Pick<HarnessConfig, "onRecover" | "recover" | "placement" | "worker"> = {},
): Harness {
  const helper = new Agent({ name: "helper", model, tools: { once: tools(ledger).once } });
  const agent = new Agent({
    name: "tortured",
    model,
    instructions: "Obey.",
    subagents: [helper],
    subagentBackground: true,
  });
  const builder = new Agent({ name: "builder", model, instructions: "Build." });
  return new Harness({
    id: "torture",
    storage,
    memory: tortureMemory,
    tools: tools(ledger),
    modes: [
      { id: "default", agent },
      { id: "plan", agent, instructions: "Plan first.", transitionsTo: "build", availableTools: PLANNING },
      { id: "build", agent: builder },
    ],
    permissions: [{ category: "other", policy: "allow" }],
    resolveModel: () => model,
    ...options,
  });
}

const PLANNING = ["write_todos", "submit_plan", "ask_user"];

/**
 * Uses everything that appends durable events. After a crash it can be started again, and skips what the journal already has.
 * `accepted` is called for each accepted command, which must not be lost from then on. Without `control`, the second half is skipped:
 * modes, approvals and permissions.
 */
export async function playScenario(
  h: Harness,
  store: Store,
  { accepted, control = true }: { accepted(what: string): void; control?: boolean },
): Promise<void> {
  const main = await mainThread(h);
  accepted(`thread ${main.id}`);
  if (main.title !== "Torture") {
    await h.renameThread({ title: "Torture" });
    accepted("renamed");
  }
  const done = await journal(store, main);
  if (!done.some(({ type }) => type === "thread_rewound")) {
    if (!done.some((event) => event.type === "input_accepted" && event.inputId === "fail")) await work(h, accepted);
    // The rewind must not revert this rule.
    await forbid(h, accepted);
    await failAndHang(h, accepted);
    await rewindToAfter(h, store, main);
    accepted("rewound");
  }
  const isInControl = (await journal(store, main)).some(
    (event) => event.type === "input_accepted" && event.inputId === "plan",
  );
  if (!isInControl) {
    await delegate(h, accepted);
    await playMemory(h, { store, main, accepted });
  }
  if (control) await playControl(h, await journal(store, main), accepted);
  const threads = await h.listThreads();
  const clone = threads.find(({ parentId }) => parentId === main.id);
  if (clone) await h.switchThread({ threadId: clone.id });
  else accepted(`thread ${(await h.cloneThread({ title: "Clone" })).id}`);
  await h.sendMessage({ id: "clone", content: "DO clone" });
  accepted("input clone");
}

export async function mainThread(h: Harness): Promise<ThreadRecord> {
  const main = (await h.listThreads()).find(({ parentId }) => parentId === null);
  return main ? h.switchThread({ threadId: main.id }) : h.createThread();
}

async function work(h: Harness, accepted: (what: string) => void): Promise<void> {
  const post = async (id: string, content: string, delivery: "send" | "steer" | "follow_up") => {
    await h.post({ id, content, delivery });
    accepted(`input ${id}`);
  };
  await post("work", "DO work", "send");
  await until(h, ({ inbox }) => !inbox.some(({ inputId }) => inputId === "work"));
  const { status } = h.getDisplayState();
  if (status === "running" || status === "waiting") {
    await post("steer", "by the way", "steer");
    await post("gone", "DO gone", "follow_up");
    if (await isInTime(h.removeInput({ inputId: "gone" }))) accepted("removed gone");
    await post("after", "DO aftr", "follow_up");
    if (await isInTime(h.editInput({ inputId: "after", content: "DO after" }))) accepted("edited after");
  } else await post("after", "DO after", "follow_up");
  await until(h, ({ status: now, inbox }) => now === "waiting" || (now === "idle" && inbox.length === 0));
  if (await isInTime(h.respondToToolSuspension({ resumeData: "this one" }))) accepted("answered ask");
  await until(h, ({ status: now, inbox }) => now === "idle" && inbox.length === 0);
}

async function failAndHang(h: Harness, accepted: (what: string) => void): Promise<void> {
  await h.sendMessage({ id: "fail", content: "DO fail" });
  accepted("input fail");
  await h.post({ id: "hang", content: "DO hang", delivery: "send" });
  accepted("input hang");
  await until(h, ({ status, inbox, currentMessage }) => {
    return (status === "idle" && inbox.length === 0) || (currentMessage?.content.length ?? 0) > 0;
  });
  await h.abort();
  accepted("aborted");
}

/** One child for which the turn waits, and one in the background. */
async function delegate(h: Harness, accepted: (what: string) => void): Promise<void> {
  await h.post({ id: "team", content: "DO team", delivery: "send" });
  accepted("input team");
  await until(h, ({ status, inbox }) => status === "idle" && inbox.length === 0);
}

async function rewindToAfter(h: Harness, store: Store, main: ThreadRecord): Promise<void> {
  const events = await journal(store, main);
  const taken = events.find((event) => event.type === "input_taken" && event.inputId === "after");
  const end = events.find((event) => event.type === "agent_end" && event.turnId === taken?.turnId);
  await h.rewind({ toSeq: end?.seq ?? 1 });
}

const journal = (store: Store, { id }: ThreadRecord): Promise<DurableEvent[]> => store.read(id);

/** False if the input or the question is no longer pending. */
async function isInTime(command: Promise<void>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    if (error instanceof CinchError && (error.code === "NOT_PENDING" || error.code === "ALREADY_ANSWERED"))
      return false;
    throw error;
  }
}
