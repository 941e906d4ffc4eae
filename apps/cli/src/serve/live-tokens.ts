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

/** The tokens of a folder as they are now. When one is revoked, its holder loses its streams. */
export class LiveTokens {
  readonly #folder: TokenFolder;
  readonly #most: readonly MayRole[];
  readonly #timer: NodeJS.Timeout;
  #live: readonly Live[] = [];
  #readAt = -Infinity;
  #changedAt = -1;

  /** `most`: no holder may do more. */
  constructor(folder: TokenFolder, most: readonly MayRole[]) {
    this.#folder = folder;
    this.#most = most;
    this.#refresh();
    this.#timer = setInterval(() => this.#refresh(), POLL_MS);
    this.#timer.unref();
  }

  get holders(): readonly TokenHolder[] {
    return this.#live.map(({ holder }) => holder);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #refresh(): void {
    const changedAt = this.#folder.changedAt();
    if (changedAt === this.#changedAt && this.#readAt - changedAt > SAME_TIME_MS) return;
    this.#changedAt = changedAt;
    this.#readAt = Date.now();
    const tokens = this.#folder.list();
    const before = this.#live;
    this.#live = tokens.map((token) => before.find((one) => isSame(one.token, token)) ?? this.#liveOf(token));
    for (const one of before) if (!this.#live.includes(one)) one.access.abort();
  }

  #liveOf(token: PersonToken): Live {
    const access = new AbortController();
    const { name: by, sha256 } = token;
    const may = token.may.filter((role) => this.#most.includes(role));
    return { token, access, holder: { by, sha256, may, signal: access.signal } };
  }
}

const isSame = (a: PersonToken, b: PersonToken): boolean => JSON.stringify(a) === JSON.stringify(b);
