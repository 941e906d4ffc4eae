import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, Harness, type DurableEvent, type Memory, type Session } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, fail, say, scriptedBy } from "@cinch/testkit";
import { DyingStore } from "../dying-store.ts";
import { asking } from "../support.ts";

const ID = { commandId: "command-1" };
const bad = fail(Object.assign(new Error("bad request"), { statusCode: 400 }));

/** Summarises everything when it is asked to. */
const memory: Memory = {
  plan: ({ isRequested, boundaries, fromSeq }) => {
    const range: [number, number] = [fromSeq, boundaries.at(-1)?.seq ?? 0];
    const cut = isRequested ? { kind: "summarise" as const, range, reason: "requested" as const } : null;
    return { cut, observe: null, reflect: null };
  },
  summarise: async () => "They talked.",
};

function process(storage: MemoryStore): Harness {
  // The answers depend on the prompt alone, so that every process gives the same ones.
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.findLast(({ role }) => role === "user")?.content ?? "");
    if (last.includes("fail")) return bad;
    return last.includes("ask") && prompt.at(-1)?.role === "user" ? call("ask", { question: "?" }) : say("ok");
  });
  const agent = (name: string) => new Agent({ name, model, tools: { ask: asking } });
  return new Harness({
    id: "test",
    storage,
    memory,
    modes: ["build", "plan"].map((id) => ({ id, name: id, agent: agent(id) })),
    permissions: [{ toolName: "ask", policy: "allow" }],
  });
}

interface OnceCase {
  name: string;
  /** What happens before. */
  before?(session: Session): Promise<unknown>;
  give(session: Session): Promise<unknown>;
  /** The event of the command. */
  type: DurableEvent["type"];
  /** What another person does after it, and what must stand then. */
  meanwhile?(session: Session): Promise<unknown>;
  stands?(session: Session): unknown;
}

const queue = async (session: Session) => {
  await session.post({ content: "ask", delivery: "send", id: "first" });
  await session.settled();
  await session.followUp({ content: "later", id: "queued" });
};

const waitingTurn = async (session: Session) => {
  await session.post({ content: "ask", delivery: "send", id: "second" });
  await session.settled();
};

const failing = async (session: Session) => {
  assert.equal((await session.sendMessage({ content: "fail" })).reason, "error");
};

const CASES: OnceCase[] = [
  {
    name: "renameThread",
    give: (session) => session.renameThread({ title: "mine" }),
    type: "thread_renamed",
    meanwhile: (session) => session.renameThread({ title: "theirs" }),
    stands: (session) => session.getDisplayState().threadId && session.listThreads().then(([one]) => one!.title),
  },
  {
    name: "switchMode",
    give: (session) => session.switchMode({ modeId: "plan" }),
    type: "mode_changed",
    meanwhile: (session) => session.switchMode({ modeId: "build" }),
    stands: (session) => session.getCurrentModeId(),
  },
  {
    name: "setPermissionForTool",
    give: (session) => session.setPermissionForTool({ toolName: "ask", policy: "deny" }),
    type: "permission_changed",
    meanwhile: (session) => session.setPermissionForTool({ toolName: "ask", policy: "allow" }),
    stands: (session) => session.getPermissionRules(),
  },
  {
    name: "grantSessionTool",
    give: (session) => session.grantSessionTool({ toolName: "ask" }),
    type: "grant_added",
    meanwhile: (session) => session.setPermissionForTool({ toolName: "ask", policy: "deny" }),
    stands: (session) => session.getSessionGrants(),
  },
  {
    name: "setState",
    give: (session) => session.setState({ colour: "red" }),
    type: "state_changed",
    meanwhile: (session) => session.setState({ colour: "blue" }),
    stands: (session) => session.getState(),
  },
  {
    name: "editInput",
    before: queue,
    give: (session) => session.editInput({ inputId: "queued", content: "mine" }),
    type: "input_edited",
    meanwhile: (session) => session.editInput({ inputId: "queued", content: "theirs" }),
    stands: (session) => session.listInbox(),
  },
  {
    name: "removeInput",
    before: queue,
    give: (session) => session.removeInput({ inputId: "queued" }),
    type: "input_removed",
    meanwhile: (session) => session.followUp({ content: "again", id: "another" }),
    stands: (session) => session.listInbox(),
  },
  {
    name: "abort",
    before: queue,
    give: (session) => session.abort({ inbox: true }),
    type: "abort_requested",
    meanwhile: waitingTurn,
    stands: (session) => session.getDisplayState().pendingSuspensions,
  },
  { name: "retry", before: failing, give: (session) => session.retry(), type: "input_accepted", meanwhile: failing },
  {
    name: "compact",
    before: (session) => session.sendMessage({ content: "hi" }),
    give: async (session) => (await session.compact()).range,
    type: "compaction_requested",
  },
  {
    name: "rewind",
    before: (session) => session.sendMessage({ content: "hi" }),
    give: (session) => session.rewind({ toSeq: 1 }),
    type: "thread_rewound",
    meanwhile: (session) => session.sendMessage({ content: "after it" }),
    stands: (session) => session.getDisplayState().messages.map(({ role }) => role),
  },
  {
    name: "rewind of a turn that waits",
    before: queue,
    give: (session) => session.rewind({ toSeq: 1 }),
    type: "thread_rewound",
    meanwhile: waitingTurn,
    stands: (session) => session.getDisplayState().pendingSuspensions,
  },
  {
    name: "respondToToolSuspension, by a caller without a name",
    before: queue,
    give: (session) => session.respondToToolSuspension({ resumeData: "yes" }),
    type: "tool_resumed",
    meanwhile: async (session) => {
      await session.settled();
      await session.sendMessage({ content: "thanks" });
    },
  },
];

class DeafStore extends MemoryStore {
  override follow(): () => void {
    return () => undefined;
  }
}

/** Two processes at one thread, and what they say of it. */
class TwoProcesses implements AsyncDisposable {
  readonly store: DyingStore;
  readonly #harnesses: Harness[] = [];
  readonly #data = new MemoryData();
  first!: Session;

  constructor() {
    this.store = new DyingStore(this.#data);
  }

  async begin({ before }: OnceCase): Promise<void> {
    this.first = await this.#open(this.store);
    await before?.(this.first);
  }

  second(): Promise<Session> {
    return this.#open(new MemoryStore(this.#data));
  }

  /** A process that does not hear of what others append. */
  deaf(): Promise<Session> {
    return this.#open(new DeafStore(this.#data));
  }

  async #open(storage: MemoryStore): Promise<Session> {
    const harness = process(storage);
    this.#harnesses.push(harness);
    const session = await harness.createSession();
    if (this.#harnesses.length === 1) await session.createThread({ id: "thread" });
    else await session.switchThread({ threadId: "thread" });
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#harnesses.map((harness) => harness.close()));
  }
}

/** How often the command has happened. */
async function timesGiven(session: Session, type: string): Promise<number> {
  const events = await session.listEvents({ limit: 10_000 });
  return events.filter((event) => event.type === type && "command" in event && event.command?.id === ID.commandId)
    .length;
}

for (const one of CASES)
  describe(one.name, () => {
    test("given again in another process, it happens once and has the same answer", async () => {
      await using at = new TwoProcesses();
      await at.begin(one);
      const deaf = await at.deaf();
      const answer = await one.give(at.first.once(ID));
      await one.meanwhile?.(at.first);
      const standing = await one.stands?.(at.first);
      assert.deepEqual(await one.give(deaf.once(ID)), answer);
      const second = await at.second();
      assert.deepEqual(await one.give(second.once(ID)), answer);
      assert.deepEqual(await one.stands?.(second), standing);
      assert.deepEqual(await one.give(at.first.once(ID)), answer);
      assert.equal(await timesGiven(second, one.type), 1);
    });

    test("given in two processes at once, it happens once", async () => {
      await using at = new TwoProcesses();
      await at.begin(one);
      const second = await at.second();
      const answers = await Promise.all([at.first, second].map((session) => one.give(session.once(ID))));
      assert.deepEqual(answers[0], answers[1]);
      assert.equal(await timesGiven(second, one.type), 1);
    });

    test("given again after its process was killed at any moment, it happens once", async () => {
      const kills = { before: 0, after: 0 };
      for (const place of ["before", "after"] as const)
        for (let nth = 1; ; nth++) {
          await using at = new TwoProcesses();
          await at.begin(one);
          at.store.dieAt({ nth, place });
          await one.give(at.first.once(ID)).catch(() => undefined);
          if (!at.store.isDead) break;
          kills[place]++;
          const second = await at.second();
          await one.give(second.once(ID));
          assert.equal(await timesGiven(second, one.type), 1, `killed ${place} call ${nth} of the store`);
        }
      assert.ok(kills.before > 1 && kills.after > 1);
    });
  });

test("an input and a thread that have no id get that of the command", async () => {
  await using at = new TwoProcesses();
  await at.begin({ name: "", give: async () => undefined, type: "input_accepted" });
  const second = await at.second();
  for (const session of [at.first, second]) {
    assert.deepEqual(await session.once(ID).post({ content: "hi", delivery: "send" }), { inputId: ID.commandId });
    assert.equal((await session.once({ commandId: "clone" }).cloneThread({ sourceThreadId: "thread" })).id, "clone");
    assert.equal((await session.once({ commandId: "new" }).createThread({ title: "new" })).id, "new");
  }
  assert.deepEqual((await second.listThreads()).map(({ id }) => id).toSorted(), ["clone", "new", "thread"]);
});

test("an id is remembered across a rewind, and a clone has none of its source", async () => {
  await using at = new TwoProcesses();
  const rename = (session: Session) => session.once(ID).renameThread({ title: "mine" });
  await at.begin({ name: "", give: async () => undefined, type: "thread_renamed" });
  await rename(at.first);
  await at.first.renameThread({ title: "theirs" });
  await at.first.rewind({ toSeq: 1 });
  await rename(at.first);
  const second = await at.second();
  await rename(second);
  const titleOf = async (threadId: string) => (await second.listThreads()).find(({ id }) => id === threadId)!.title;
  assert.equal(await titleOf("thread"), "theirs");
  await second.cloneThread({ id: "clone" });
  await rename(second);
  assert.equal(await titleOf("clone"), "mine");
});

test("a clone that is rewound, also to before it was made, knows the commands that it was given itself, and no others", async () => {
  await using at = new TwoProcesses();
  await at.begin({ name: "", give: async () => undefined, type: "thread_renamed" });
  const { first } = at;
  const give = (session: Session, commandId: string) =>
    session.once({ commandId }).setState({ by: `${session.getCurrentThreadId()}-${commandId}` });
  const seq = () => first.getDisplayState().seq;
  await give(first, "of-source");
  await first.setState({ n: 1 });
  const inSource = seq();
  await first.cloneThread({ id: "clone" });
  await give(first, "of-clone");
  await first.setState({ n: 2 });
  const inClone = seq();
  const wasDone = async (session: Session, commandId: string) => {
    const { length } = await session.listEvents({ limit: 10_000 });
    await give(session, commandId);
    return (await session.listEvents({ limit: 10_000 })).length > length;
  };
  for (const [sourceThreadId, toSeqs] of [
    ["clone", [inClone, inSource]],
    ["clone", [inSource, inSource - 1]],
    ["clone", [inSource]],
  ] as const) {
    await first.cloneThread({ sourceThreadId, id: `of-${toSeqs.join("-")}` });
    await give(first, "own");
    for (const toSeq of toSeqs) await first.rewind({ toSeq });
    const second = await at.second();
    await second.switchThread({ threadId: first.getCurrentThreadId()! });
    for (const [session, name] of [
      [first, "first"],
      [second, "second"],
    ] as const) {
      assert.equal(await wasDone(session, "own"), false, `${name}, after ${toSeqs}`);
      const isFirst = session === first;
      assert.equal(await wasDone(session, "of-source"), isFirst, `${name}, after ${toSeqs}`);
      assert.equal(await wasDone(session, "of-clone"), isFirst, `${name}, after ${toSeqs}`);
    }
  }
  await first.switchThread({ threadId: "clone" });
  await first.rewind({ toSeq: inSource });
  assert.deepEqual([await wasDone(first, "of-clone"), await wasDone(first, "of-source")], [false, true]);
});

test("a command with another id, or without one, happens again", async () => {
  await using at = new TwoProcesses();
  await at.begin({ name: "", give: async () => undefined, type: "state_changed" });
  for (const session of [at.first.once(ID), at.first.once({ commandId: "command-2" }), at.first, at.first])
    await session.setState({ colour: "red" });
  const events = await at.first.listEvents();
  assert.equal(events.filter(({ type }) => type === "state_changed").length, 4);
});
