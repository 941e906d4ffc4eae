import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { HarnessDisplayState, ThreadApproval } from "@cinch/core";
import { bundle } from "./bundle.ts";

const program = await bundle(new URL("./programs/remote-harness.ts", import.meta.url));

interface Reply {
  result?: unknown;
  /** The code of the error with which the harness rejected. */
  error?: string;
}

/** A harness in another process, with a session at the thread. */
export class RemoteHarness implements AsyncDisposable {
  readonly #child;
  readonly #ended: Promise<unknown>;
  readonly #waiting = new Map<unknown, (reply: Reply) => void>();
  readonly ran: string[] = [];
  #calls = 0;

  constructor(folder: string) {
    const child = spawn(process.execPath, [program, folder], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    // Its end is told by `close`.
    child.stdin.on("error", () => undefined);
    this.#ended = new Promise((resolve) => child.on("close", resolve));
    createInterface({ input: child.stdout }).on("line", (text) => {
      const { id, ran, ...reply } = JSON.parse(text) as Reply & { id?: number; ran?: string };
      if (ran !== undefined) this.ran.push(ran);
      this.#waiting.get(id ?? ran)?.(reply);
    });
  }

  call(method: string, argument?: unknown): Promise<Reply> {
    const id = ++this.#calls;
    this.#child.stdin.write(`${JSON.stringify({ id, method, argument })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async do<T>(method: string, argument?: unknown): Promise<T> {
    const { result, error } = await this.call(method, argument);
    assert.equal(error, undefined, `${method}: ${error}`);
    return result as T;
  }

  /** Sends an order, and waits until its turn needs an answer. */
  async order(content: string): Promise<void> {
    await this.do("post", { content, delivery: "send" });
    await this.do("until", "waiting");
  }

  async pending(): Promise<ThreadApproval> {
    const [first] = await this.do<ThreadApproval[]>("pendingApprovals");
    return first!;
  }

  show(): Promise<HarnessDisplayState> {
    return this.do("getDisplayState");
  }

  hasRun(what: string): Promise<unknown> {
    return new Promise((resolve) => {
      if (this.ran.includes(what)) resolve(what);
      else this.#waiting.set(what, resolve);
    });
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** Closes the harness, so that the process ends. */
  async close(): Promise<void> {
    await this.do("close");
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
