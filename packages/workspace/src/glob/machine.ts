import type { Op } from "./program.ts";

/** The size of the state cache: there may be thousands of patterns. A full cache is cleared. */
const MAX_STATES = 100;

const ASCII_CODES = 128;

/** A set of positions in the program, and the state that follows for each character. */
interface State {
  places: readonly number[];
  isEnd: boolean;
  ascii: (State | undefined)[];
  others: Map<number, State>;
}

/**
 * How many positions may still be passed. It is shared by the patterns that are compared with one path. Those that are cached count as well:
 * the answer must not depend on the paths before.
 */
export interface Effort {
  left: number;
}

/** Not infinite, because what a folder takes is a difference. */
const unlimited = (): Effort => ({ left: Number.MAX_SAFE_INTEGER });

const DEAD: State = { places: [], isEnd: false, ascii: [], others: new Map() };

/** Runs a program at all its positions at once: an NFA, made a DFA lazily, because a pattern is matched against very many paths. */
export class Machine {
  readonly #ops: readonly Op[];
  /** The positions that each position leads to without a character, computed lazily. */
  readonly #reached: (readonly number[] | undefined)[] = [];
  #states = new Map<string, State>();
  #start: State;
  /** The state after the last folder: files of one folder are adjacent. */
  #folder: { path: string; state: State; cost: number } | undefined;

  constructor(ops: readonly Op[]) {
    this.#ops = ops;
    this.#start = this.#state(this.#from(0));
  }

  /** False as soon as no effort is left. */
  accepts(text: string, effort: Effort = unlimited()): boolean {
    const name = text.lastIndexOf("/") + 1;
    if (name === 0) return this.#run(text, 0, this.#start, effort).isEnd;
    if (this.#folder?.path.length !== name || !text.startsWith(this.#folder.path)) {
      const path = text.slice(0, name);
      const before = effort.left;
      const state = this.#run(path, 0, this.#start, effort);
      if (effort.left < 0) return false;
      this.#folder = { path, state, cost: before - effort.left };
    } else if ((effort.left -= this.#folder.cost) < 0) return false;
    return this.#run(text, name, this.#folder.state, effort).isEnd;
  }

  survives(directory: string): boolean {
    return this.#enter(directory).some((at) => this.#ops[at]!.op !== "end");
  }

  takesAll(directory: string): boolean {
    const endsHere = (at: number) => this.#from(at + 1).some((next) => this.#ops[next]!.op === "end");
    return this.#enter(directory).some((at) => this.#ops[at]!.op === "rest" && endsHere(at));
  }

  #enter(directory: string): readonly number[] {
    return this.#run(directory === "" ? "" : `${directory}/`, 0, this.#start).places;
  }

  #run(text: string, from: number, begin: State, effort: Effort = unlimited()): State {
    let state = begin;
    for (let at = from; at < text.length && state.places.length > 0;) {
      const code = text.codePointAt(at)!;
      at += code > 0xffff ? 2 : 1;
      if ((effort.left -= state.places.length) < 0) return DEAD;
      const known = code < ASCII_CODES ? state.ascii[code] : state.others.get(code);
      state = known ?? this.#next(state, code);
    }
    return state;
  }

  #next(state: State, code: number): State {
    const places = new Set<number>();
    for (const place of state.places) {
      if (!takes(this.#ops[place]!, code)) continue;
      for (const entered of this.#from(place + 1)) places.add(entered);
    }
    const next = this.#state([...places]);
    if (code < ASCII_CODES) state.ascii[code] = next;
    else if (state.others.size < ASCII_CODES) state.others.set(code, next);
    return next;
  }

  #state(places: readonly number[]): State {
    const key = places.join();
    const known = this.#states.get(key);
    if (known) return known;
    if (this.#states.size >= MAX_STATES) this.#forget();
    const isEnd = places.some((at) => this.#ops[at]!.op === "end");
    const state = { places, isEnd, ascii: [], others: new Map() };
    this.#states.set(key, state);
    return state;
  }

  /** States refer to each other, so all are dropped. */
  #forget(): void {
    this.#states = new Map();
    this.#folder = undefined;
    this.#start = this.#state(this.#from(0));
  }

  #from(place: number): readonly number[] {
    return (this.#reached[place] ??= this.#split(place));
  }

  #split(from: number): number[] {
    const seen = new Set([from]);
    for (const at of seen) {
      const op = this.#ops[at]!;
      if (op.op === "split") for (const to of op.to) seen.add(to);
    }
    return [...seen].filter((at) => this.#ops[at]!.op !== "split");
  }
}

const SLASH = 47;

function takes(op: Op, code: number): boolean {
  switch (op.op) {
    case "char":
      return op.code === code;
    case "any":
      return code !== SLASH;
    case "rest":
      return true;
    case "class":
      return op.has(code);
    case "split":
    case "end":
      return false;
    default:
      return op satisfies never;
  }
}
