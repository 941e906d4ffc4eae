import type { Placement, DriveOutcome } from "@cinch/core";

type Drive = (threadId: string) => Promise<DriveOutcome>;

/** What happens to one wake. A number delays it by so many ms. */
export type Fate = "arrives" | "lost" | "fails" | "twice" | "hangs" | number;

/** How often a wake that found no room is brought to another worker. */
const TRIES = 3;

/** An engine in this process that brings wakes to workers. It does to each wake what the plan says; after its end, wakes arrive. */
export class Engine {
  readonly #fates: Fate[];
  readonly #workers: Drive[] = [];
  readonly wakes: string[] = [];
  readonly outcomes: { threadId: string; outcome: DriveOutcome }[] = [];
  readonly closed: string[] = [];
  #next = 0;
  /** What happens to wakes after the end of the plan. */
  otherwise: Fate = "arrives";

  constructor(...fates: Fate[]) {
    this.#fates = fates;
  }

  /** For one harness. */
  placement(name = "process"): Placement {
    let own: Drive | undefined;
    return {
      serve: async (drive) => {
        own = drive;
        this.#workers.push(drive);
      },
      wake: (threadId) => this.#wake(threadId),
      drain: async () => {
        const at = own ? this.#workers.indexOf(own) : -1;
        if (at >= 0) this.#workers.splice(at, 1);
      },
      close: async () => void this.closed.push(name),
    };
  }

  async #wake(threadId: string): Promise<void> {
    this.wakes.push(threadId);
    const fate = this.#fates.shift() ?? this.otherwise;
    if (fate === "hangs") return new Promise(() => undefined);
    if (fate === "fails") throw new Error("The engine is down.");
    if (fate === "lost") return;
    const deliver = () => this.#deliver(threadId);
    if (typeof fate === "number") setTimeout(deliver, fate);
    else deliver();
    if (fate === "twice") deliver();
  }

  #deliver(threadId: string): void {
    const delivered = this.#drive(threadId, TRIES);
    delivered.catch(() => undefined);
  }

  async #drive(threadId: string, tries: number): Promise<void> {
    const drive = this.#workers[this.#next++ % this.#workers.length];
    if (!drive) return;
    const outcome = await drive(threadId);
    this.outcomes.push({ threadId, outcome });
    if (outcome !== "done" && tries > 1) await this.#drive(threadId, tries - 1);
  }
}
