import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { connect } from "@cinch/client";
import { Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { bundle } from "../../../testkit/test/bundle.ts";
import { caughtUp, journalOf } from "./gap-run.ts";
import { randomTalk, verifyCommands } from "./random-talk.ts";
import { Seeded } from "./seeded.ts";
import { CountedTool, talkingConfig } from "./talking.ts";
import { displaysOf, WatchedClient } from "./watched-client.ts";

const program = await bundle(new URL("../programs/server.ts", import.meta.url));

/** A server in a process of its own, always on the same port. */
class ServerProcess implements AsyncDisposable {
  readonly #path: string;
  #child: ChildProcess | null = null;
  port = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [program, this.#path, String(this.port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      this.port = Number(line);
      return;
    }
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

test("a client of a server that is killed again and again shows every event once, and its messages settle", async () => {
  const folder = await mkdtemp(join(tmpdir(), "cinch-killed-"));
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  const server = cleanUp.use(new ServerProcess(path));
  await server.start();
  const client = connect({ url: `http://127.0.0.1:${server.port}` });
  cleanUp.defer(() => client.close());
  const session = await client.createSession();
  await session.createThread({ id: "killed" });
  const watched = new WatchedClient(session);
  const random = new Seeded(7);
  const talk = { isOver: false };
  const talking = randomTalk(session, random).finally(() => (talk.isOver = true));
  for (let kills = 0; kills < 4 && !talk.isOver; kills++) {
    await sleep(150 + random.below(200));
    await server.kill();
    await sleep(random.below(100));
    await server.start();
  }
  const record = await talking;
  await using harness = await reader(path);
  const journal = await journalOf(harness, "killed");
  await caughtUp(session, journal.at(-1)!.seq);
  watched.verify(displaysOf("killed", journal));
  verifyCommands(journal, record);
});

/** Another process that reads the same store. */
async function reader(path: string): Promise<Harness & AsyncDisposable> {
  const tools = { count: new CountedTool(), guarded: new CountedTool() };
  const harness = new Harness({ ...talkingConfig(tools), storage: sqliteStore({ path }) });
  await harness.init();
  return Object.assign(harness, { [Symbol.asyncDispose]: () => harness.close() });
}
