export interface Size {
  columns: number;
  rows: number;
}

/** The screen of a terminal. */
export interface TerminalOutput {
  size(): Size;
  /** Calls `done` when the terminal has everything, which may be never. There is one write at a time. */
  write(bytes: string, done: () => void): void;
  /** Returns when the terminal has everything: for the last bytes of a process. */
  writeNow(bytes: string): void;
  /** Returns a function that ends it. */
  onResize(listener: () => void): () => void;
}

/** The keyboard of a terminal. */
export interface TerminalInput {
  setRaw(raw: boolean): void;
  /** Returns a function that ends it. */
  onBytes(listener: (bytes: Uint8Array) => void): () => void;
}
