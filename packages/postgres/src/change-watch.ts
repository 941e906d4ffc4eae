import type { Store, ThreadChanges } from "@cinch/core/store";
import type { Database } from "./database.ts";
import { DirectConnection } from "./direct-connection.ts";
import { FollowBarrier } from "./follow-barrier.ts";
import type { LeaseHolder } from "./lease-holder.ts";
import { ListFollowers } from "./list-followers.ts";
import { noticeKey, type ChangeNotice } from "./change-notice.ts";
import { ThreadFollowers } from "./thread-followers.ts";

/** How often changes are asked for: a notice may be lost, and without notices this is all there is. */
const POLL_MS = 1_000;
const POLL_WITHOUT_NOTICES_MS = 50;

/** Followers of threads and lists: what this process changes is sent to the others, and what they change comes back to its followers. */
export class ChangeWatch {
  readonly #threads: ThreadFollowers;
  readonly #lists: ListFollowers;
  readonly #direct: DirectConnection;
  readonly #barrier: FollowBarrier;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(database: Database, { directUrl, holder }: { directUrl: string; holder: LeaseHolder }) {
    this.#barrier = FollowBarrier.of(`${database.place} ${database.schema}`);
    this.#threads = new ThreadFollowers(database, {
      holder,
      barrier: this.#barrier,
      unnoticed: () => this.#direct.check(),
    });
    this.#lists = new ListFollowers(database, this.#barrier);
    const received = (notices: readonly ChangeNotice[]) => {
      for (const notice of notices) {
        this.#threads.received(notice);
        this.#lists.received(notice);
      }
    };
    const handlers = { received, connected: () => this.#poll() };
    this.#direct = new DirectConnection(directUrl, { database, holder: holder.no, handlers });
  }

  open(): Promise<void> {
    return this.#direct.open();
  }

  follow(threadId: string, changed: Parameters<Store["follow"]>[1]): () => void {
    const stop = this.#threads.follow(threadId, changed);
    this.#schedule();
    return stop;
  }

  followThreads(resourceId: string): ThreadChanges {
    const changes = this.#lists.follow(resourceId);
    this.#schedule();
    return changes;
  }

  /** Operations wait for it: see `FollowBarrier`. */
  passed(): Promise<unknown> | undefined {
    return this.#barrier.passed();
  }

  /** This process has changed a thread. With `seq`, the only change is that the journal now ends there. */
  changed(threadId: string, seq?: number): void {
    // The caller gets its result first.
    setImmediate(() => {
      const key = noticeKey(threadId);
      this.#direct.send(seq === undefined ? { kind: "changed", key } : { kind: "appended", key, seq });
      this.#threads.notify(threadId, seq);
    });
  }

  /** This process has changed the draft of a thread, which its own followers need not know. */
  drafted(threadId: string): void {
    this.#direct.send({ kind: "changed", key: noticeKey(threadId) });
  }

  /** This process has changed what lists show of a thread. */
  listed(no: number): void {
    const notice: ChangeNotice = { kind: "listed", no };
    this.#direct.send(notice);
    this.#lists.received(notice);
  }

  /** Calls no follower any more. What this process still changes is sent to the others. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#threads.end();
    this.#lists.end();
  }

  async close(): Promise<void> {
    await this.#direct.close();
  }

  #schedule(): void {
    if (this.#timer || this.#isEnded || !(this.#threads.isFollowed || this.#lists.isFollowed)) return;
    this.#timer = setTimeout(() => this.#poll(), this.#direct.hears ? POLL_MS : POLL_WITHOUT_NOTICES_MS).unref();
  }

  #poll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Neither rejects.
    Promise.all([this.#threads.poll(), this.#lists.poll()]).then(
      () => this.#schedule(),
      () => this.#schedule(),
    );
  }
}
