import type { NewEvent } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieGet, trieRecord } from "../folds/trie.ts";
import type { FileChange, HeldFiles, ThreadFiles } from "../events/files.ts";
import type { Blob } from "../ports/store.ts";
import type { Driver } from "./driver.ts";

/** The files of a thread, as one call of a tool sees and changes them; or, without one, as the driver itself does. */
export class CallFiles implements ThreadFiles {
  readonly #driver: Driver;
  readonly #call: { toolCallId: string; toolName: string } | undefined;
  readonly #reads = new Map<string, string>();

  constructor(driver: Driver, call?: { toolCallId: string; toolName: string }) {
    this.#driver = driver;
    this.#call = call;
  }

  get resourceId(): string {
    return this.#driver.state.resourceId;
  }

  async held(): Promise<HeldFiles> {
    return trieRecord(this.#driver.state.files.held);
  }

  seen(path: string): string | undefined {
    return this.#reads.get(path) ?? trieGet(this.#driver.state.files.seen, path);
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
    const isRecorded = await this.#driver.append((state) => {
      const about = this.#about(state);
      const changes = about && decide(trieRecord(state.files.held));
      if (!changes || changes.length === 0) return null;
      const events = changes.map((change): NewEvent => ({ type: "file_changed", ...about, ...change }));
      return { events: [...firstOfTurn(state, about), ...events], blobs, result: true };
    });
    return isRecorded ?? false;
  }

  async checkpoint(what: { tree: string } | { untold: string }): Promise<void> {
    await this.#driver.append((state) => {
      const about = this.#about(state);
      return about && { events: [{ type: "checkpoint_created", reason: "command", ...about, ...what }] };
    });
  }

  /** `null`: the call is over, and with it the right to act. */
  #about({ turn }: ThreadState): { turnId?: string; call?: string } | null {
    const id = this.#call?.toolCallId;
    if (id === undefined) return turn ? { turnId: turn.turnId } : {};
    const call = turn?.calls.find(({ toolCallId }) => toolCallId === id);
    return turn && call && call.state !== "ended" ? { turnId: turn.turnId, call: id } : null;
  }

  blob(hash: string): Promise<Uint8Array | undefined> {
    return this.#driver.ports.store.blob(hash);
  }

  print(output: string, stream: "stdout" | "stderr"): void {
    if (this.#call) this.#driver.journal.live({ type: "shell_output", ...this.#call, output, stream });
  }
}

/** Where people will want to go back to. */
function firstOfTurn({ files }: ThreadState, about: { turnId?: string; call?: string }): NewEvent[] {
  if (about.turnId === undefined || about.call === undefined || files.checkpoint === about.turnId) return [];
  return [{ type: "checkpoint_created", reason: "change", ...about }];
}
