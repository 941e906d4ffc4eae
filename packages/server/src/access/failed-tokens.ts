import { HttpError, RETRY_AFTER } from "../http/http-error.ts";
import { tokenHash } from "./bearer-tokens.ts";

/** How many wrong tokens an address may send at once, and then in each second. */
const BURST = 100;
const PER_SECOND = 10;
const REMEMBERED = 10_000;

interface Tries {
  left: number;
  at: number;
}

/**
 * Slows down an address that tries tokens. Tokens that were right before pass: behind a proxy, all people have the same address. A request
 * without a token tries nothing.
 */
export class FailedTokens {
  readonly #tries = new Map<string, Tries>();
  readonly #right = new Set<string>();

  /** Throws 429 if the address has tried too many. `undefined`: not known, where the server is mounted in another one. */
  check(request: Request, address: string | undefined, now = performance.now()): void {
    const token = request.headers.get("authorization");
    if (address === undefined || token === null || this.#right.has(tokenHash(token))) return;
    if (this.#leftFor(address, now) >= 1) return;
    throw new HttpError(429, "TOO_MANY", "Too many wrong tokens from this address. Wait a second.", {
      headers: RETRY_AFTER,
      reason: "tokens",
    });
  }

  failed(request: Request, address: string | undefined, now = performance.now()): void {
    if (address === undefined || request.headers.get("authorization") === null) return;
    const left = this.#leftFor(address, now) - 1;
    this.#tries.delete(address);
    this.#tries.set(address, { left, at: now });
    if (this.#tries.size > REMEMBERED) this.#tries.delete(this.#tries.keys().next().value!);
  }

  succeeded(request: Request): void {
    const token = request.headers.get("authorization");
    if (token === null) return;
    this.#right.add(tokenHash(token));
    if (this.#right.size > REMEMBERED) this.#right.delete(this.#right.values().next().value!);
  }

  #leftFor(address: string, now: number): number {
    const { left = BURST, at = now } = this.#tries.get(address) ?? {};
    return Math.min(BURST, left + ((now - at) / 1_000) * PER_SECOND);
  }
}
