import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@cinch/client";
import { Harness, type DurableEvent, type Session } from "@cinch/core";
import { bearerTokens, createServer, ROLES, tokenHash } from "@cinch/server";
import { sqliteStore } from "@cinch/sqlite";
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
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
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
  const record = await randomTalk(session, random);
  proxy.calm();
  await session.settled();
  const journal = await journalOf(harnesses[0]!, threadId);
  await caughtUp(session, journal.at(-1)!.seq);
  watched.verify(displaysOf(threadId, journal));
  verifyCommands(journal, record);
  return proxy.counts;
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
