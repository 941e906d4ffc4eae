const RING_BYTES = 1_000_000;

/** The newest chunks of a feed. Each has a number, and watchers remember the number of the next one. */
export class FeedRing {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #end = 0;

  /** The number that the next chunk gets. */
  get end(): number {
    return this.#end;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#end += 1;
    this.#bytes += chunk.length;
    while (this.#bytes > RING_BYTES && this.#chunks.length > 1) this.#bytes -= this.#chunks.shift()!.length;
  }

  /** `undefined`: the chunk is no longer here. */
  at(number: number): Uint8Array | undefined {
    return this.#chunks[number - (this.#end - this.#chunks.length)];
  }
}

/** A replay that is longer is not sent: the display is shorter. */
export const REPLAY_BYTES = RING_BYTES;
