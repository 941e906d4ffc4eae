/** The value of a fold. Events are folded when the value is read, as one batch. */
export class LazyFold<State, Event> {
  readonly #reduceAll: (before: State, events: readonly Event[]) => State;
  #value: State;
  #unfolded: Event[] = [];

  constructor(value: State, reduceAll: (before: State, events: readonly Event[]) => State) {
    this.#value = value;
    this.#reduceAll = reduceAll;
  }

  add(event: Event): void {
    this.#unfolded.push(event);
  }

  get value(): State {
    const events = this.#unfolded;
    if (events.length === 0) return this.#value;
    this.#unfolded = [];
    return (this.#value = this.#reduceAll(this.#value, events));
  }

  /** Replaces the value, and drops the events that are not folded yet. */
  set value(value: State) {
    this.#unfolded = [];
    this.#value = value;
  }
}
