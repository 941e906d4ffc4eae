/** Work of a route that takes `wait`. It continues after the answer 202, and the caller's seat does not wait for it. */
export class LongWork {
  readonly done: Promise<unknown>;

  constructor(done: Promise<unknown>) {
    this.done = done;
    // A caller that got 202 asks again, or learns from events how the work ended.
    done.catch(() => undefined);
  }
}
