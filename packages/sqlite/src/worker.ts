import { DatabaseSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort } from "node:worker_threads";
import type { ErrorCode } from "@cinch/core";
import { failureOf, isBusy, sqliteCode } from "./failure.ts";
import { Observer } from "./observer.ts";
import type { FromWriter, Instruction, WorkOutcome, Request, ToWriter, WriterOptions } from "./protocol.ts";
import { prepareForWriting } from "./schema.ts";
import { SearchIndex } from "./search-index.ts";
import { Writer } from "./writer.ts";

const port = parentPort!;
const post = (message: FromWriter) => port.postMessage(message);

/** How long one attempt to lock the file may take. Between attempts, requests that have waited too long fail. */
const LOCK_ATTEMPT_MS = 100;
const MAX_BATCH = 500;
/** How long a search may wait for the index. */
const CATCH_UP_MS = 200;
const RETRY_INDEX_MS = 1000;
/** Indexing waits for a pause between commits, but not longer than this. */
const MAX_INDEX_DELAY_MS = 5000;
/** How long `close` tries to release the leases. Another process can take an unreleased one after a while. */
const RELEASE_ALL_MS = 2000;

interface Waiting extends Request {
  since: number;
  /** Set after it shared a transaction that failed as a whole, possibly because of another request. */
  runAlone?: boolean;
}

function open(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: LOCK_ATTEMPT_MS });
  try {
    prepareForWriting(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

class WriterService {
  readonly #db: DatabaseSync;
  readonly #options: WriterOptions;
  readonly #observer: Observer;
  readonly #writer: Writer;
  readonly #index: SearchIndex;
  readonly #queue: Waiting[] = [];
  /** Searches that wait for the index. They neither delay the queue nor wait for it. */
  #searches: Waiting[] = [];
  #verdicts = "[]";
  #ticking: NodeJS.Timeout | undefined;
  #indexing: NodeJS.Timeout | undefined;
  /** When the index was last complete. */
  #indexedAt = performance.now();

  constructor(db: DatabaseSync, options: WriterOptions) {
    this.#db = db;
    this.#options = options;
    this.#observer = new Observer(db, options);
    this.#writer = new Writer(db, options, this.#observer);
    this.#index = new SearchIndex(db, this.#writer);
    this.#indexIn(options.indexMs);
  }

  receive(instructions: readonly Instruction[]): void {
    for (const instruction of instructions) this.#enqueue(instruction);
    for (this.#drain(); this.#queue.length + this.#searches.length > 0; this.#drain()) {
      if (this.#queue[0]?.work.kind === "close") return this.#close(this.#queue[0]);
      if (this.#queue.length > 0) this.#commit();
      if (this.#searches.length > 0) this.#catchUp();
    }
    this.#ticking ??= setInterval(() => this.#tick(), this.#options.renewMs / 2);
  }

  #enqueue(instruction: Instruction): void {
    if ("watch" in instruction) this.#observer.watch(instruction.watch, performance.now());
    else if (instruction.work.kind === "others") this.#answerOthers(instruction);
    else {
      const queue = instruction.work.kind === "catch_up" ? this.#searches : this.#queue;
      queue.push({ ...instruction, since: performance.now() });
    }
  }

  #answerOthers(request: Request): void {
    try {
      answer(request, {
        kind: "others",
        version: Number(this.#db.prepare("PRAGMA data_version").get()!["data_version"]),
      });
    } catch (error) {
      answer(request, { kind: "failed", failure: failureOf(error, this.#options.path) });
    }
  }

  #drain(): void {
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
      for (const instruction of (next.message as { instructions: Instruction[] }).instructions)
        this.#enqueue(instruction);
  }

  #commit(): void {
    const end = this.#queue.findIndex(({ work, runAlone }) => runAlone || work.kind === "close");
    const batch = this.#queue.splice(0, Math.max(1, Math.min(end < 0 ? this.#queue.length : end, MAX_BATCH)));
    try {
      post({ kind: "replies", replies: this.#writer.commit(batch) });
      this.#indexIn(this.#options.indexMs);
    } catch (error) {
      this.#retry(batch, error);
    }
  }

  #retry(batch: Waiting[], error: unknown): void {
    const failed: WorkOutcome = { kind: "failed", failure: failureOf(error, this.#options.path) };
    const isLate = ({ since }: Waiting) => performance.now() - since > this.#options.busyMs;
    const [over, again] = split(batch, isBusy(error) ? isLate : () => batch.length === 1);
    for (const request of over) answer(request, failed);
    if (!isBusy(error)) for (const request of again) request.runAlone = true;
    this.#queue.unshift(...again);
  }

  #catchUp(): void {
    let more = false;
    this.#attempt(() => void (more = this.#index.proceed({ includeHeld: true })));
    const [over, waiting] = split(this.#searches, ({ since }) => !more || performance.now() - since > CATCH_UP_MS);
    for (const request of over) answer(request, { kind: "done" });
    this.#searches = waiting;
  }

  #close(request: Waiting): void {
    clearInterval(this.#ticking);
    clearTimeout(this.#indexing);
    const end = performance.now() + Math.min(RELEASE_ALL_MS, this.#options.busyMs);
    while (this.#attempt(() => this.#writer.releaseAll()) === "STORE_BUSY" && performance.now() < end);
    this.#db.close();
    answer(request, { kind: "done" });
    port.close();
  }

  #tick(): void {
    if (this.#writer.holdsLeases || this.#observer.readCounters(performance.now()))
      this.#attempt(() => this.#writer.renew());
    const dead = this.#observer.dead(performance.now());
    if (JSON.stringify(dead) !== this.#verdicts) post({ kind: "verdicts", dead });
    this.#verdicts = JSON.stringify(dead);
    if (this.#writer.holdsLeases || this.#observer.isWatching) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #indexIn(ms: number): void {
    const isDue = performance.now() - this.#indexedAt > MAX_INDEX_DELAY_MS;
    // Not started again: under steady load, the index would never be updated.
    if (isDue && this.#indexing) return;
    clearTimeout(this.#indexing);
    this.#indexing = setTimeout(() => {
      this.#indexing = undefined;
      const failure = this.#attempt(() => {
        if (this.#index.proceed({ includeHeld: false })) this.#indexIn(1);
        else this.#indexedAt = performance.now();
      });
      if (failure) this.#indexIn(RETRY_INDEX_MS);
    }, ms);
  }

  /** Runs a task that can be repeated later. Returns the code of a failure of the store; throws for a defect. */
  #attempt(task: () => void): ErrorCode | undefined {
    try {
      task();
      return undefined;
    } catch (error) {
      const { code } = failureOf(error, this.#options.path);
      if (code === "STORE_FAILED" && sqliteCode(error) === undefined) throw error;
      return code;
    }
  }
}

const answer = ({ id }: Request, outcome: WorkOutcome) => post({ kind: "replies", replies: [{ id, outcome }] });

/** Judges each request once: at a second look at the clock, one that was not over may be, and would neither be answered nor kept. */
function split(
  requests: readonly Waiting[],
  isOver: (request: Waiting) => boolean,
): [over: Waiting[], rest: Waiting[]] {
  const { over = [], rest = [] } = Object.groupBy(requests, (request) => (isOver(request) ? "over" : "rest"));
  return [over, rest];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Another process that creates or upgrades the file at the same time locks it briefly. */
async function openWithRetry({ path, busyMs }: WriterOptions, since: number): Promise<DatabaseSync> {
  for (;;) {
    try {
      return open(path);
    } catch (error) {
      if (!isBusy(error) || performance.now() - since > busyMs) throw error;
    }
    await pause(10);
  }
}

let service: WriterService | undefined;
/** Instructions that arrived before the file was open. */
const beforeOpen: Instruction[] = [];

async function begin(options: WriterOptions): Promise<void> {
  try {
    service = new WriterService(await openWithRetry(options, performance.now()), options);
  } catch (error) {
    post({ kind: "unusable", failure: failureOf(error, options.path) });
    return port.close();
  }
  post({ kind: "ready" });
  service.receive(beforeOpen);
}

// If `begin` throws, the worker exits, and the main thread receives its error.
port.on("message", (message: ToWriter) => {
  if ("open" in message) return begin(message.open);
  if (service) service.receive(message.instructions);
  else beforeOpen.push(...message.instructions);
});
