import type { MayRole, TokenHolder } from "@cinch/server";
import type { PersonToken, TokenFolder } from "./token-folder.ts";

const POLL_MS = 250;
/** Two changes in this time may leave the same time on the folder, so it is read again. */
const SAME_TIME_MS = 2_000;

interface Live {
  token: PersonToken;
  holder: TokenHolder;
  access: AbortController;
}

interface LiveTokensPorts {
  folder: TokenFolder;
  /** No holder may do more. */
  most: readonly MayRole[];
  /** The folder can't be read, and why. */
  failed(error: unknown): void;
}

/** The tokens of a folder as they are now. When one is revoked, its holder loses its streams. */
export class LiveTokens {
  readonly #ports: LiveTokensPorts;
  readonly #timer: NodeJS.Timeout;
  /** By file. */
  #live: ReadonlyMap<string, Live> = new Map();
  #readAt = -Infinity;
  #changedAt = -1;
  #isFailing = false;

  constructor(ports: LiveTokensPorts) {
    this.#ports = ports;
    this.#refresh();
    this.#timer = setInterval(() => this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  get holders(): readonly TokenHolder[] {
    return Array.from(this.#live.values(), ({ holder }) => holder);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** With too many files open, the folder can't be read for a while. Until it can, people keep their access. */
  #poll(): void {
    try {
      this.#refresh();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.failed(error);
      this.#isFailing = true;
    }
  }

  #refresh(): void {
    const { folder } = this.#ports;
    const changedAt = folder.changedAt();
    if (changedAt === this.#changedAt && this.#readAt - changedAt > SAME_TIME_MS) return;
    const readAt = Date.now();
    const before = this.#live;
    const { live, failures } = this.#readAll();
    this.#live = live;
    const kept = new Set(live.values());
    for (const one of before.values()) if (!kept.has(one)) one.access.abort();
    if (failures.length > 0) throw failures[0];
    this.#readAt = readAt;
    this.#changedAt = changedAt;
  }

  /** A file that can't be read stands for the token that it was. One that is gone does not. */
  #readAll(): { live: Map<string, Live>; failures: unknown[] } {
    const { folder } = this.#ports;
    const live = new Map<string, Live>();
    const failures: unknown[] = [];
    for (const file of folder.files()) {
      const before = this.#live.get(file);
      try {
        const token = folder.read(file);
        if (token) live.set(file, before && isSame(before.token, token) ? before : this.#liveOf(token));
      } catch (error) {
        failures.push(error);
        if (before) live.set(file, before);
      }
    }
    return { live, failures };
  }

  #liveOf(token: PersonToken): Live {
    const access = new AbortController();
    const { name: by, sha256 } = token;
    const may = token.may.filter((role) => this.#ports.most.includes(role));
    return { token, access, holder: { by, sha256, may, signal: access.signal } };
  }
}

const isSame = (a: PersonToken, b: PersonToken): boolean => JSON.stringify(a) === JSON.stringify(b);
