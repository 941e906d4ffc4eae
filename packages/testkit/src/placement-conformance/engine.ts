import type { Placement } from "@cinch/core";
import { PlacementProcess } from "./placement-process.ts";

/** An engine under test, for one check. */
export interface PlacementUnderTest {
  /** One more placement on this engine, as another process would have it: made, and opened if it has `open`. */
  placement(): Promise<Placement>;
  /** Makes placements on this engine in other processes. Left out: the checks between processes are skipped. */
  program?: PlacementProgram;
  dispose(): Promise<void>;
}

/** A module that calls `hostPlacements`, and what its placements are made from: a value that can be sent to another process. */
export interface PlacementProgram {
  file: string;
  data: unknown;
}

export type PlacementCheck = (sentence: string, body: (engine: Engine) => Promise<void>) => void;

/** The engine of one check. Everything that the check makes with it ends with the check. */
export class Engine implements AsyncDisposable {
  readonly #made: PlacementUnderTest;
  readonly #neighbour: PlacementProcess | undefined;
  readonly #opened: Placement[] = [];
  readonly #processes: PlacementProcess[] = [];

  /** With a neighbour, every second placement is in that process. */
  constructor(made: PlacementUnderTest, neighbour?: PlacementProcess) {
    this.#made = made;
    this.#neighbour = neighbour;
  }

  readonly placement = async (): Promise<Placement> => {
    const isHere = !this.#neighbour || this.#opened.length % 2 === 1;
    const placement = isHere
      ? await this.#made.placement()
      : await this.#neighbour!.placement(this.#made.program!.data);
    this.#opened.push(placement);
    return placement;
  };

  /** A worker's placement in a process of its own. */
  readonly process = async (): Promise<{ process: PlacementProcess; placement: Placement }> => {
    const { file, data } = this.#made.program!;
    const process = new PlacementProcess(file);
    this.#processes.push(process);
    return { process, placement: await process.placement(data) };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.kill()));
    await Promise.all(this.#opened.map((placement) => placement.close?.()));
    await this.#made.dispose();
  }
}
