import type { NewEvent } from "../events.ts";
import type { FileChange, HeldFiles, ThreadFiles } from "../files.ts";
import type { Blob } from "../store.ts";
import type { Driver } from "./driver.ts";

/** The files of a thread, as one call of a tool sees and changes them. */
export class CallFiles implements ThreadFiles {
  readonly #driver: Driver;
  readonly #call: { toolCallId: string; toolName: string };
  readonly #reads = new Map<string, string>();

  constructor(driver: Driver, call: { toolCallId: string; toolName: string }) {
    this.#driver = driver;
    this.#call = call;
  }

  get resourceId(): string {
    return this.#driver.state.resourceId;
  }

  async held(): Promise<HeldFiles> {
    return this.#driver.state.files.held;
  }

  seen(path: string): string | undefined {
    const { seen } = this.#driver.state.files;
    return this.#reads.get(path) ?? (Object.hasOwn(seen, path) ? seen[path] : undefined);
  }

  read(path: string, version: string): void {
    this.#reads.set(path, version);
  }

  /** What was read in this call, for its end. */
  get reads(): { reads?: Record<string, string> } {
    return this.#reads.size > 0 ? { reads: Object.fromEntries(this.#reads) } : {};
  }

  async record(
    decide: (held: HeldFiles) => readonly FileChange[] | null,
    blobs: readonly Blob[] = [],
  ): Promise<boolean> {
    let recorded = false;
    const call = this.#call.toolCallId;
    await this.#driver.append((state) => {
      const changes = state.turn && decide(state.files.held);
      recorded = changes !== null && changes.length > 0;
      if (!state.turn || !changes || !recorded) return null;
      const { turnId } = state.turn;
      const events = changes.map((change): NewEvent => ({ type: "file_changed", turnId, call, ...change }));
      return { events, blobs };
    });
    return recorded;
  }

  blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#driver.ports.store.blob(hash);
  }

  print(output: string, stream: "stdout" | "stderr"): void {
    this.#driver.journal.live({ type: "shell_output", ...this.#call, output, stream });
  }
}
