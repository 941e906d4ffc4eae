import type { NewEvent } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import { trieGet, trieRecord } from "../folds/trie.ts";
import type { FileChange, HeldFiles, ThreadFiles } from "../events/files.ts";
import type { Blob } from "../ports/store.ts";
import type { Thread } from "../thread/thread.ts";
import { ancestorsOf, type Driver } from "./driver.ts";

/** Gives a workspace access to the thread's record of files: for one tool call, or for the driver itself. */
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

  /** The files of a tree are in the journal of its top-level thread. */
  get #top(): Thread | undefined {
    return ancestorsOf(this.#driver.state.agent, this.#driver.ports.threads)[0];
  }

  async held(): Promise<HeldFiles> {
    const top = this.#top;
    await top?.refresh();
    return trieRecord((top ?? this.#driver).state.files.held);
  }

  async offloaded(): Promise<HeldFiles> {
    const above = this.#driver.ancestors;
    await Promise.all(above.map((thread) => thread.refresh()));
    const [own, ...others] = [this.#driver, ...above].map(({ state }) => trieRecord(state.files.offloaded));
    return others.length === 0 ? own! : Object.assign({}, ...others, own);
  }

  seen(path: string): string | undefined {
    return this.#reads.get(path) ?? trieGet(this.#driver.state.files.seen, path);
  }

  read(path: string, version: string): void {
    this.#reads.set(path, version);
  }

  /** The files that this call has read, for its `tool_end`. */
  get reads(): { reads?: Record<string, string> } {
    return this.#reads.size > 0 ? { reads: Object.fromEntries(this.#reads) } : {};
  }

  async record(
    decide: (held: HeldFiles) => readonly FileChange[] | null,
    blobs: readonly Blob[] = [],
  ): Promise<boolean> {
    const top = this.#top;
    if (top) {
      const inTop = await this.#recordInTop(top, decide, blobs);
      if (inTop !== null) return inTop;
    }
    const isRecorded = await this.#driver.append((state) => {
      const origin = this.#origin(state);
      const changes = origin && decide(trieRecord(state.files.held));
      if (!changes || changes.length === 0) return null;
      const events = changes.map((change): NewEvent => ({ type: "file_changed", ...origin, ...change }));
      return { events: [...firstCheckpoint(state, origin), ...events], blobs, result: true };
    });
    return isRecorded ?? false;
  }

  /** Records a change of files that live in the journal of the top-level thread. `null`: the change is one of other files. */
  async #recordInTop(
    top: Thread,
    decide: (held: HeldFiles) => readonly FileChange[] | null,
    blobs: readonly Blob[],
  ): Promise<boolean | null> {
    const outcome = await top.command<boolean | null>(({ files }) => {
      const changes = this.#origin(this.#driver.state) && decide(trieRecord(files.held));
      if (!changes || changes.length === 0) return { events: [], result: false };
      if (!changes.every(({ held }) => held)) return { events: [], result: null };
      const events = changes.map((change): NewEvent => ({ type: "file_changed", ...change }));
      return { events, blobs, result: true };
    });
    return outcome ?? null;
  }

  async checkpoint(snapshot: { tree: string } | { untracked: string }): Promise<void> {
    await this.#driver.append((state) => {
      const origin = this.#origin(state);
      return origin && { events: [{ type: "checkpoint_created", reason: "command", ...origin, ...snapshot }] };
    });
  }

  /** `null`: the call has ended, so it may not record anything. */
  #origin({ turn }: ThreadState): Origin | null {
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

/** The turn and the call that change a file. */
interface Origin {
  turnId?: string;
  call?: string;
}

/** The checkpoint before the first change of a turn. */
function firstCheckpoint({ files }: ThreadState, origin: Origin): NewEvent[] {
  if (origin.turnId === undefined || origin.call === undefined || files.checkpoint === origin.turnId) return [];
  return [{ type: "checkpoint_created", reason: "change", ...origin }];
}
