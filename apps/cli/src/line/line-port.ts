/** Where lines are typed: a terminal that edits and echoes them itself, or a pipe. */
export interface LineInput {
  /** Returns a function that ends it. */
  onText(listener: (text: string) => void): () => void;
  onEnd(listener: () => void): () => void;
  /** Only of a terminal: keys arrive one by one, and are not echoed. */
  setRaw?: (raw: boolean) => void;
}

export interface LineSink {
  write(text: string): void;
}
