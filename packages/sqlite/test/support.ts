import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { DurableType, StampedEvent, Store } from "@cinch/core";
import { sqliteStore, type SqliteOptions } from "@cinch/sqlite";

let clock = 1_700_000_000_000;

export const event = (type: DurableType, fields: object = {}): StampedEvent =>
  ({ type, v: 1, at: ++clock, ...fields }) as StampedEvent;
export const created = () => event("thread_created", { title: "A thread", resourceId: "me" });
export const input = (content: string) => event("input_accepted", { inputId: "i", delivery: "send", content });
export const says = (text: string) =>
  event("message_end", { message: { id: "m", role: "assistant", content: [{ type: "text", text }] } });

/** A folder for one test, a file in it, and everything that opens the file; all gone when the test is over. */
export class Place implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cinch-"));
  readonly path = join(this.folder, "cinch.db");
  readonly #opened: { close(): Promise<void> }[] = [];

  async store(options: Partial<SqliteOptions> = {}): Promise<Store> {
    const store = sqliteStore({ path: this.path, ...options });
    await store.open();
    this.#opened.push(store);
    return store;
  }

  /** A store in a process of its own. */
  async child(options: Partial<SqliteOptions> = {}, process: ChildOptions = {}): Promise<Child> {
    const child = new Child({ path: this.path, ...options }, process);
    this.#opened.push(child);
    await child.call("open");
    return child;
  }

  /** The file as any program sees it. */
  look<T>(question: (db: DatabaseSync) => T): T {
    using db = new DatabaseSync(this.path, { timeout: 5000 });
    return question(db);
  }

  /** Keeps everybody from writing until it is called back. */
  lock(): () => void {
    const db = new DatabaseSync(this.path, { timeout: 5000 });
    db.exec("BEGIN IMMEDIATE");
    return () => db.close();
  }

  assertSound(): void {
    const answers = this.look((db) =>
      db
        .prepare("PRAGMA integrity_check")
        .all()
        .map((row) => row["integrity_check"]),
    );
    assert.deepEqual(answers, ["ok"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#opened.map((opened) => opened.close()));
    rmSync(this.folder, { recursive: true });
  }
}

interface ChildOptions {
  env?: Record<string, string>;
  uid?: number;
}

type Whole = Required<Store>;
type Method = keyof { [M in keyof Whole as Whole[M] extends (...args: never[]) => Promise<unknown> ? M : never]: true };
type Waiting = { resolve(value: unknown): void; reject(reason: unknown): void };

export class Child {
  readonly #process;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;

  constructor(options: SqliteOptions, { env, uid }: ChildOptions) {
    const program = join(import.meta.dirname, "child.ts");
    this.#process = fork(program, [JSON.stringify(options)], {
      execArgv: ["-C", "@cinch/source"],
      uid,
      env: { ...process.env, ...env },
      serialization: "advanced",
    });
    this.#process.on("message", (answer: { id: number; value: unknown; failure?: object }) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if (answer.failure) waiting?.reject(Object.assign(new Error("in the child"), answer.failure));
      else waiting?.resolve(answer.value);
    });
    this.#process.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the child is dead"));
      this.#waiting.clear();
    });
  }

  call<M extends Method>(method: M, ...args: Parameters<Whole[M]>): ReturnType<Whole[M]> {
    const answer = new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      this.#process.send({ id, method, args });
    });
    return answer as ReturnType<Whole[M]>;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.dead();
  }

  async dead(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }

  close = async (): Promise<void> => this.kill();
}

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end; await pause(10)) if (await condition()) return;
  assert.fail(`${what} never happened`);
}

export const code = (expected: string) => ({ code: expected });
