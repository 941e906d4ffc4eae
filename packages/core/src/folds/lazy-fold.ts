/** The value of a fold. Events are folded when the value is read, as one batch. */
export class LazyFold<State, Event> {
  readonly #reduceAll: (before: State, events: readonly Event[]) => State;
  #value: State;
  #unfolded: Event[] = [];
  #expected: { before: State; events: readonly Event[]; after: State } | undefined;

  constructor(value: State, reduceAll: (before: State, events: readonly Event[]) => State) {
    this.#reduceAll = reduceAll;
    this.#value = value;
  }

  add(event: Event): void {
    this.#unfolded.push(event);
  }

  /** The events that are added next fold to this value, so that they need not be folded again. */
  expect(events: readonly Event[], after: State): void {
    this.#expected = { before: this.value, events, after };
  }

  get value(): State {
    const events = this.#unfolded;
    if (events.length === 0) return this.#value;
    this.#unfolded = [];
    return (this.#value = this.#isExpected(events) ? this.#expected!.after : this.#reduceAll(this.#value, events));
  }

  #isExpected(events: readonly Event[]): boolean {
    const { before, events: expected = [] } = this.#expected ?? {};
    return (
      this.#value === before && expected.length === events.length && events.every((event, at) => event === expected[at])
    );
  }

  /** Replaces the value, and drops the events that are not folded yet. */
  set value(value: State) {
    this.#unfolded = [];
    this.#value = value;
  }
}
