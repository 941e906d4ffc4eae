import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type RemoteSession } from "@cinch/client";
import { CinchError, Harness, memoryStore, type DurableEvent, type HarnessDisplayState } from "@cinch/core";
import { bearerTokens, createServer, ROLES, tokenHash } from "@cinch/server";
import { caughtUp } from "./gap-run.ts";
import { Seeded } from "./seeded.ts";
import { CountedTool, talkingConfig } from "./talking.ts";
import { recordedDisplays, WatchedClient } from "./watched-client.ts";

const PEOPLE = Array.from({ length: 10 }, (_, at) => `person-${at}`);
const THREAD = "shared";

/** What others may have done first. */
const EXPECTED = new Set(["ALREADY_ANSWERED", "NOT_PENDING"]);

/** Another person may have reverted the message meanwhile. */
const ifReverted = (error: unknown): void => {
  if (!(error instanceof CinchError && /which a rewind has reverted/.test(error.message))) throw error;
};

test("ten people answer, steer, edit the queue and rewind one thread at once, and all see the same", async () => {
  const random = new Seeded(41);
  const tools = { count: new CountedTool(), guarded: new CountedTool() };
  const harness = new Harness({ ...talkingConfig(tools), storage: memoryStore() });
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => harness.close());
  await harness.init();
  const holders = PEOPLE.map((by) => ({ sha256: tokenHash(by), resourceId: "team", by, may: ROLES }));
  const server = createServer({ harness, authenticate: bearerTokens(() => holders) });
  const { url } = await server.listen();
  cleanUp.defer(() => server.close({ drainMs: 0 }));
  const seats: { session: RemoteSession; watched: WatchedClient }[] = [];
  for (const token of PEOPLE) {
    const client = connect({ url, token });
    cleanUp.defer(() => client.close());
    const session = await client.createSession();
    await session.createThread({ id: THREAD });
    seats.push({ session, watched: new WatchedClient(session) });
  }
  const inProcess = await harness.createSession({ threadId: THREAD });
  const events: DurableEvent[] = [];
  inProcess.subscribe((event) => void ("v" in event && events.push(event)));
  const expected = recordedDisplays(inProcess);
  const writers = new Map([["begin", PEOPLE[0]!]]);
  await seats[0]!.session.post({ content: "begin: use guarded", delivery: "send", id: "begin" });
  await answeredOnce(seats.map(({ session }) => session));
  await Promise.all(
    seats.map(async ({ session }, at) => {
      const own = new Seeded(random.below(2 ** 31));
      for (let act = 0; act < 12; act++) await oneAct(session, { random: own, by: PEOPLE[at]!, act, writers });
    }),
  );
  const [first] = seats;
  await finished(first!.session);
  for (const { session, watched } of seats) {
    await caughtUp(session, inProcess.getDisplayState().seq);
    watched.verify(expected);
  }
  const displays = seats.map(({ session }): HarnessDisplayState => session.getDisplayState());
  for (const display of displays) assert.deepEqual(display, displays[0]);
  verifyAuthors(events, writers);
});

/** All approve the same call at once, and one of them succeeds. */
async function answeredOnce(sessions: readonly RemoteSession[]): Promise<void> {
  const answers = sessions.map(async (session) => {
    while (!session.getDisplayState().pendingApproval) await new Promise((resolve) => setTimeout(resolve, 2));
    const { toolCallId, digest } = session.getDisplayState().pendingApproval!;
    return { toolCallId, digest };
  });
  const asked = await Promise.all(answers);
  const outcomes = await Promise.allSettled(
    sessions.map((session, at) => session.respondToToolApproval({ ...asked[at]!, decision: "approve" })),
  );
  const codes = outcomes.map((one) => (one.status === "fulfilled" ? "answered" : (one.reason as CinchError).code));
  const others = new Set(codes.filter((code) => code !== "answered"));
  assert.equal(codes.filter((code) => code === "answered").length, 1);
  assert.ok(
    [...others].every((code) => EXPECTED.has(code)),
    [...others].join(" "),
  );
}

interface Act {
  random: Seeded;
  by: string;
  act: number;
  /** By input, who sent it. */
  writers: Map<string, string>;
}

async function oneAct(session: RemoteSession, { random, by, act, writers }: Act): Promise<void> {
  const display = session.getDisplayState();
  const id = `${by}-${act}`;
  try {
    switch (random.below(7)) {
      case 0:
        writers.set(id, by);
        await session.post({ content: `${id}: use guarded, use question`, delivery: "follow_up", id });
        break;
      case 1:
        writers.set(id, by);
        await session.steer({ content: `${id}: use count`, id });
        break;
      case 2: {
        const item = display.inbox[0];
        if (item) await session.editInput({ inputId: item.inputId, content: `edited by ${by}` });
        break;
      }
      case 3: {
        const item = display.inbox.at(-1);
        if (item) await session.removeInput({ inputId: item.inputId });
        break;
      }
      case 4: {
        const approval = display.pendingApproval;
        const { toolCallId, digest } = approval ?? {};
        if (approval)
          await session.respondToToolApproval({ toolCallId: toolCallId!, decision: "approve", digest: digest! });
        break;
      }
      case 5: {
        const [question] = Object.values(display.pendingSuspensions);
        if (question)
          await session.respondToToolSuspension({ toolCallId: question.toolCallId, resumeData: by, seq: question.seq });
        break;
      }
      default: {
        const messages = display.messages.filter(({ role }) => role === "user");
        const message = messages.length > 0 ? random.pick(messages) : undefined;
        if (message && random.chance(0.3)) await session.rewind({ toSeq: message.seq - 1 }).catch(ifReverted);
      }
    }
  } catch (error) {
    assert.ok(error instanceof CinchError && EXPECTED.has(error.code), String(error));
  }
  await new Promise((resolve) => setTimeout(resolve, random.below(25)));
}

/** One person answers what still waits. */
async function finished(session: RemoteSession): Promise<void> {
  for (;;) {
    const { pending, status } = await session.settled();
    if (status === "idle" && session.getDisplayState().inbox.length === 0) return;
    if (status === "idle") await session.resume();
    for (const asked of pending) {
      const { toolCallId, seq } = asked;
      if ("digest" in asked)
        await session.respondToToolApproval({ toolCallId, digest: asked.digest, decision: "approve" });
      else await session.respondToToolSuspension({ toolCallId, resumeData: "end", seq });
    }
  }
}

function verifyAuthors(journal: readonly DurableEvent[], writers: ReadonlyMap<string, string>): void {
  for (const event of journal) {
    if (event.type === "input_accepted") assert.equal(event.by, writers.get(event.inputId));
    if (event.type === "input_edited") assert.equal(event.content, `edited by ${event.by}`);
    if (event.type === "tool_resumed") assert.ok(PEOPLE.includes(event.by ?? ""));
  }
  const answers = journal.filter((event) => event.type === "tool_approval_resolved");
  for (const { by } of answers) assert.ok(PEOPLE.includes(by ?? ""));
  assert.ok(answers.length > 0, "there were approvals");
  for (const [at, event] of journal.entries()) {
    if (event.type !== "tool_approval_required") continue;
    const later = journal.slice(at + 1).filter((one) => "toolCallId" in one && one.toolCallId === event.toolCallId);
    const next = later.findIndex(({ type }) => type === "tool_approval_required");
    const own = next === -1 ? later : later.slice(0, next);
    assert.ok(own.filter(({ type }) => type === "tool_approval_resolved").length <= 1, "an approval is answered once");
  }
}
