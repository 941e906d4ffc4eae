import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { connect } from "@cinch/client";
import { Harness, type DurableEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { bundle } from "../../../testkit/test/bundle.ts";
import { freePort } from "../../../testkit/test/free-port.ts";
import { everyCommand, verifyGiven } from "./every-command.ts";
import { caughtUp, journalOf, rewoundOnce } from "./gap-run.ts";
import { randomTalk, verifyCommands } from "./random-talk.ts";
import { Seeded } from "./seeded.ts";
import { CountedTool, talkingConfig } from "./talking.ts";
import { displaysOf, WatchedClient } from "./watched-client.ts";

const program = await bundle(new URL("../programs/server.ts", import.meta.url));

const THREAD = "killed";

/** A server in a process of its own, always on the same port. */
class ServerProcess implements AsyncDisposable {
  readonly #path: string;
  #child: ChildProcess | null = null;
  readonly port: number;

  constructor(path: string, port: number) {
    this.#path = path;
    this.port = port;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [program, this.#path, String(this.port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) if (Number(line) === this.port) return;
    throw new Error("The server ended before it listened.");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    this.#child = null;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

test("a client of a server that is killed again and again shows every event once, and every command happens once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "cinch-killed-"));
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 9 }));
  const path = join(folder, "store.db");
  const server = cleanUp.use(new ServerProcess(path, await freePort()));
  await server.start();
  const client = connect({ url: `http://127.0.0.1:${server.port}` });
  cleanUp.defer(() => client.close());
  const session = await client.createSession();
  await session.createThread({ id: THREAD });
  const watched = new WatchedClient(session);
  const random = new Seeded(7);
  const talk = { isOver: false };
  const talking = (async () => {
    verifyCommands(...(await withJournal(path, randomTalk(session, random))));
    const [before, given] = await withJournal(path, everyCommand(client, session, { random, name: "every" }));
    verifyGiven(before, given);
    await rewoundOnce(session, before, random);
    return before;
  })().finally(() => (talk.isOver = true));
  for (let kills = 0; kills < 6 && !talk.isOver; kills++) {
    await sleep(150 + random.below(200));
    await server.kill();
    await sleep(random.below(100));
    await server.start();
  }
  while (!talk.isOver) {
    // Three servers in a row may have been killed before the turn got any further. Then it is parked until a person continues it.
    if (session.getDisplayState().status === "parked") await session.resume();
    await sleep(100);
  }
  const [after, before] = await withJournal(path, talking);
  await caughtUp(session, after.at(-1)!.seq);
  watched.verify(displaysOf(THREAD, before, after));
});

/** What came of the work, and the journal as another process reads it then. */
async function withJournal<T>(path: string, work: Promise<T>): Promise<[DurableEvent[], T]> {
  const done = await work;
  const tools = { count: new CountedTool(), guarded: new CountedTool() };
  const harness = new Harness({ ...talkingConfig(tools), storage: sqliteStore({ path }) });
  try {
    return [await journalOf(harness, THREAD), done];
  } finally {
    await harness.close();
  }
}
