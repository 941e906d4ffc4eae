import { setTimeout as pause } from "node:timers/promises";
import type { JsonPoster } from "./json-poster.ts";

/** Restate asks the worker what it serves, so this takes longer than a wake. */
const REGISTER_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

/** Tells Restate where the workers are. The same address may be registered any number of times. */
export class Registration {
  readonly #poster: JsonPoster;
  readonly #url: URL;
  readonly #advertise: URL;
  readonly #closed = new AbortController();
  #running: Promise<boolean> | undefined;
  #keeping: Promise<void> | undefined;

  constructor(poster: JsonPoster, { admin, advertise }: { admin: URL; advertise: URL }) {
    this.#poster = poster;
    this.#url = new URL(`${admin.pathname.replace(/\/$/, "")}/deployments`, admin);
    this.#advertise = advertise;
  }

  /** Whether it succeeded. Callers share an attempt that is under way. */
  once(): Promise<boolean> {
    return (this.#running ??= this.#attempt().finally(() => (this.#running = undefined)));
  }

  /** Settles after the first attempt. If that fails, more follow until one succeeds, because Restate may be down or too old now only. */
  async keepTrying(): Promise<void> {
    if (await this.once()) return;
    this.#keeping ??= this.#retry().finally(() => (this.#keeping = undefined));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#keeping;
  }

  async #retry(): Promise<void> {
    const { signal } = this.#closed;
    for (let ms = FIRST_PAUSE_MS; !signal.aborted; ms = Math.min(ms * 2, MAX_PAUSE_MS)) {
      await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted && (await this.once())) return;
    }
  }

  async #attempt(): Promise<boolean> {
    // HTTP/1.1: over HTTP/2, one connection would bring most drives to one worker.
    const body = { uri: this.#advertise.href, use_http_11: true, force: true };
    const status = await this.#poster.post(this.#url, body, { timeoutMs: REGISTER_MS }).catch(() => 0);
    return status >= 200 && status < 300;
  }
}
