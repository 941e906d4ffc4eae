import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type RemoteSession } from "@cinch/client";
import { Harness, type DurableEvent, type Session } from "@cinch/core";
import { bearerTokens, createServer, ROLES, tokenHash } from "@cinch/server";
import { sqliteStore } from "@cinch/sqlite";
import { everyCommand, verifyGiven } from "./every-command.ts";
import { FaultProxy, type FaultCounts } from "./fault-proxy.ts";
import { randomTalk, verifyCommands } from "./random-talk.ts";
import { Seeded } from "./seeded.ts";
import { CountedTool, talkingConfig } from "./talking.ts";
import { displaysOf, WatchedClient } from "./watched-client.ts";

const TOKEN = "ann-token";
const holders = [{ sha256: tokenHash(TOKEN), resourceId: "default", by: "ann", may: ROLES }];
/** An answer that arrives twice is one only if a person with a name gave it. */
const authenticate = bearerTokens(() => holders);

/**
 * A random talk through a network that misbehaves, with one server or with two on one store. At each durable event the client must have
 * shown what the journal folds to, and every command must have happened once.
 */
export async function gapRun({ seed, servers: count = 1 }: { seed: number; servers?: 1 | 2 }): Promise<FaultCounts> {
  const folder = await mkdtemp(join(tmpdir(), "cinch-gap-"));
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 9 }));
  const random = new Seeded(seed);
  const tools = { count: new CountedTool(), guarded: new CountedTool() };
  const ports: number[] = [];
  const harnesses: Harness[] = [];
  for (let at = 0; at < count; at++) {
    const harness = new Harness({ ...talkingConfig(tools), storage: sqliteStore({ path: join(folder, "store.db") }) });
    await harness.init();
    const server = createServer({ harness, authenticate });
    ports.push((await server.listen()).port);
    harnesses.push(harness);
    cleanUp.defer(async () => {
      await server.close({ drainMs: 0 });
      await harness.close();
    });
  }
  const proxy = cleanUp.use(await FaultProxy.start({ target: () => random.pick(ports), random }));
  const client = connect({ url: proxy.url, token: TOKEN });
  cleanUp.defer(() => client.close());
  const threadId = `gap-${seed}`;
  // A client that never reached its server says so at once.
  const session = await client.createSession();
  proxy.storm();
  await session.createThread({ id: threadId });
  const watched = new WatchedClient(session);
  const journalNow = () => journalOf(harnesses[0]!, threadId);
  const record = await randomTalk(session, random);
  verifyCommands(await journalNow(), record);
  const given = await everyCommand(client, session, { random, name: "every" });
  const before = await journalNow();
  verifyGiven(before, given);
  await rewoundOnce(session, before, random);
  proxy.calm();
  await session.settled();
  const after = await journalNow();
  await caughtUp(session, after.at(-1)!.seq);
  watched.verify(displaysOf(threadId, before, after));
  return proxy.counts;
}

/** Rewinds a thread that is idle, and goes on from there. A second rewind would revert what is said then. */
export async function rewoundOnce(
  session: RemoteSession,
  journal: readonly DurableEvent[],
  random: Seeded,
): Promise<void> {
  const { seq: toSeq } = random.pick(journal.filter(({ type }) => type === "agent_end"));
  const reverted = journal.filter(({ type, seq }) => type === "message_end" && seq > toSeq).length;
  const { messages } = await session.rewind({ toSeq });
  assert.equal(messages, reverted);
  const { reason } = await session.sendMessage({ content: "After it", id: "after-it" });
  assert.equal(reason, "complete");
  const isKept = (event: DurableEvent) => event.type === "input_accepted" && event.inputId === "after-it";
  assert.equal((await session.listEvents({ after: toSeq })).filter(isKept).length, 1);
}

export async function journalOf(harness: Harness, threadId: string): Promise<DurableEvent[]> {
  const session = await harness.createSession({ threadId });
  try {
    return await session.listEvents({ limit: 10_000 });
  } finally {
    await session.close();
  }
}

/** Waits until the client has shown this event. If it never does, the test times out. */
export async function caughtUp(session: Pick<Session, "getDisplayState">, seq: number): Promise<void> {
  while (session.getDisplayState().seq < seq) await new Promise((resolve) => setTimeout(resolve, 5));
}
