import { CinchError } from "../errors.ts";
import type { Head } from "../model/prompt.ts";
import type { Store } from "../ports/store.ts";

/** How many are kept. The threads of one agent mostly have the same. */
const MOST = 16;

/**
 * The heads of prompts that this process has used last, by the hash of their bytes. A new driver begins each turn: it would read, verify and
 * parse the head of the thread again.
 */
export class RecordedHeads {
  readonly #store: Pick<Store, "blob">;
  /** The one that was used last is at the end. */
  readonly #heads = new Map<string, Head>();

  constructor(store: Pick<Store, "blob">) {
    this.#store = store;
  }

  add(blob: string, head: Head): void {
    this.#heads.delete(blob);
    this.#heads.set(blob, head);
    const [oldest] = this.#heads.keys();
    if (this.#heads.size > MOST) this.#heads.delete(oldest!);
  }

  /** Throws `CORRUPT` if the store does not have it. */
  async get(blob: string): Promise<Head> {
    const head = this.#heads.get(blob) ?? (await this.#read(blob));
    this.add(blob, head);
    return head;
  }

  async #read(blob: string): Promise<Head> {
    const bytes = await this.#store.blob(blob);
    if (bytes) return JSON.parse(new TextDecoder().decode(bytes)) as Head;
    throw new CinchError(
      "CORRUPT",
      `The head of the prompt is missing (blob ${blob}). Restore the store from a backup.`,
    );
  }
}
