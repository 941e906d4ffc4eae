/** So long after it was hidden, a tab lets go of its stream. */
const REST_AFTER_MS = 60_000;
/** One hidden tab keeps its stream, because it has to notify the user. */
const KEEPER = "cinch-keeper";
/** All tabs that are shown have it together. */
const SHOWN = "cinch-shown";

/**
 * When this tab rests: it was hidden for a minute, and another hidden tab keeps the list of threads. Without Web Locks, which a page has on
 * loopback and with TLS, no tab can notify the user, and every hidden tab rests.
 */
class TabRest {
  #resting = new AbortController();
  #awake: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};
  #shown = new AbortController();

  constructor() {
    document.addEventListener("visibilitychange", () => this.#changed());
    this.#changed();
  }

  get isResting(): boolean {
    return this.#resting.signal.aborted;
  }

  /** Aborted when the tab begins to rest. After a rest it is another one. */
  get begins(): AbortSignal {
    return this.#resting.signal;
  }

  /** Settles when the tab does not rest. */
  get awake(): Promise<void> {
    return this.#awake;
  }

  #changed(): void {
    this.#shown.abort();
    this.#shown = new AbortController();
    if (document.visibilityState === "visible") return this.#show();
    const { signal } = this.#shown;
    const timer = setTimeout(() => void this.#hiddenLong(signal), REST_AFTER_MS);
    signal.addEventListener("abort", () => clearTimeout(timer));
  }

  #show(): void {
    this.#endRest();
    hold(SHOWN, { mode: "shared" }, this.#shown.signal);
  }

  async #hiddenLong(shown: AbortSignal): Promise<void> {
    const isKeeper = await hold(KEEPER, { ifAvailable: true }, shown);
    if (isKeeper || shown.aborted) return;
    this.#rest();
    if (await hold(KEEPER, { signal: shown }, shown)) this.#endRest();
  }

  #rest(): void {
    this.#awake = new Promise((resolve) => (this.#wake = resolve));
    this.#resting.abort();
  }

  #endRest(): void {
    if (this.isResting) this.#resting = new AbortController();
    this.#wake();
  }
}

/** Of this tab. */
export const tabRest = new TabRest();

/** Whether a tab of the page is shown, as far as the browser says. */
export async function isAnyTabShown(): Promise<boolean> {
  if (!("locks" in navigator)) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === SHOWN);
}

/** Takes a lock, and holds it until the signal is aborted. Settles when it has the lock, or will not get it. */
function hold(name: string, options: LockOptions, until: AbortSignal): Promise<boolean> {
  if (!("locks" in navigator)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const held = async (lock: Lock | null) => {
      resolve(lock !== null);
      if (lock && !until.aborted) await new Promise((end) => until.addEventListener("abort", end));
    };
    navigator.locks.request(name, options, held).catch(() => resolve(false));
  });
}
