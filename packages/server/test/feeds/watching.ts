import { newDisplayState, reduceDisplay, type HarnessDisplayState, type HarnessEvent } from "@cinch/core";
import { briefDisplay } from "../../src/brief/brief-display.ts";

/** One frame of a stream: an event, a comment, or another field. */
export interface Frame {
  id: string | undefined;
  event: HarnessEvent | undefined;
  text: string;
}

/** A stream of events over HTTP, folded as a client folds it. */
export class Watching {
  readonly frames: Frame[] = [];
  /** Settles when the stream has ended. */
  readonly ended: Promise<void>;
  display: HarnessDisplayState = newDisplayState(null);
  readonly #stop: AbortController;
  #changed = Promise.withResolvers<void>();

  private constructor(response: Response, stop: AbortController) {
    this.#stop = stop;
    this.ended = this.#read(response).catch(() => undefined);
  }

  static async open(
    url: string,
    { headers = {}, from }: { headers?: Record<string, string>; from?: HarnessDisplayState } = {},
  ): Promise<Watching> {
    const stop = new AbortController();
    const response = await fetch(url, { headers, signal: stop.signal });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const watching = new Watching(response, stop);
    if (from) watching.display = from;
    return watching;
  }

  get events(): HarnessEvent[] {
    return this.frames.flatMap(({ event }) => event ?? []);
  }

  async until(isReached: (watching: Watching) => boolean): Promise<void> {
    while (!isReached(this)) await this.#changed.promise;
  }

  close(): void {
    this.#stop.abort();
  }

  async #read(response: Response): Promise<void> {
    let rest = "";
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      rest += text;
      const blocks = rest.split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) this.#add(block);
    }
  }

  #add(block: string): void {
    const [, id] = /^id: (.*)$/m.exec(block) ?? [];
    const [, data] = /^data: (.*)$/m.exec(block) ?? [];
    const event = data === undefined ? undefined : (JSON.parse(data) as HarnessEvent);
    this.frames.push({ id, event, text: block });
    if (event) this.display = reduceDisplay(this.display, event);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** A display as JSON: what a client and the server can compare. */
export const plain = (display: HarnessDisplayState): HarnessDisplayState =>
  JSON.parse(JSON.stringify(briefDisplay(display))) as HarnessDisplayState;
