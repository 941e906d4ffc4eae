/** A storage of the browser. One that is full or blocked counts as not there: then a text lasts as long as the page. */
class KeptTexts {
  readonly #storage: () => Storage;
  readonly #unstored = new Map<string, string>();

  /** A function, because a browser throws where a blocked storage is named. */
  constructor(storage: () => Storage) {
    this.#storage = storage;
  }

  get(key: string): string | null {
    try {
      return this.#unstored.get(key) ?? this.#storage().getItem(key);
    } catch {
      return null;
    }
  }

  /** `null` removes it. */
  set(key: string, text: string | null): void {
    this.#unstored.delete(key);
    try {
      if (text === null) this.#storage().removeItem(key);
      else this.#storage().setItem(key, text);
    } catch {
      if (text !== null) this.#unstored.set(key, text);
    }
  }
}

/** For all tabs, and for those that are opened later. */
export const inBrowser = new KeptTexts(() => localStorage);
/** For this tab, also after a reload. */
export const inTab = new KeptTexts(() => sessionStorage);
