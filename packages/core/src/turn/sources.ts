import * as z from "zod/mini";
import { CallFiles } from "./call-files.ts";
import { checked } from "../config/check.ts";
import { reasonOf } from "../errors.ts";
import type { NewEvent } from "../events/event-map.ts";
import type { ThreadState } from "../folds/state.ts";
import { tokensOfText } from "../folds/tokens.ts";
import { trieKeys } from "../folds/trie.ts";
import { hashOf } from "../ports/hash.ts";
import { withTimeout } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { ContextSource, SourceReach } from "../ports/context-source.ts";
import { pathRulesOf } from "../permissions/gate.ts";
import type { PathRuleLists } from "../permissions/path-rule.ts";
import type { Driver } from "./driver.ts";
import type { Setup } from "./setup.ts";

/** A source that takes longer is left as it was. */
const READ_MS = 5_000;
/** The longest text of a source in a prompt, in characters. */
const TEXT_CHARS = 100_000;

export interface ReadSource {
  name: string;
  text: string;
  version: string;
  change: string;
}

/** A source must not flood the subscribers. */
const MAX_PROBLEMS = 100;
/** The problems that were shown, by thread. */
const shown = new WeakMap<ContextSource, Set<string>>();
const MAX_SHOWN = 10_000;

/** What is known of the context sources. */
export interface SourceTexts {
  readonly texts: readonly ReadSource[];
  /** The names of those that could not be read: whether they have a text is not known. */
  readonly unread: ReadonlySet<string>;
}

/** The texts of the context sources, as a driver has last read them. */
export class Sources implements SourceTexts {
  readonly #driver: Driver;
  /** By name. `null`: the source has no text. */
  #known: ReadonlyMap<string, ReadSource | null> = new Map();
  /** What was read when the texts were. */
  #at: { turnId: string; seen: unknown } | undefined;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  get texts(): readonly ReadSource[] {
    return [...this.#known.values()].filter((text) => text !== null);
  }

  get unread(): ReadonlySet<string> {
    const names = this.#driver.ports.sources.map(({ name }) => name);
    return new Set(names.filter((name) => !this.#known.has(name)));
  }

  /** Reads the sources when a turn begins, and those that follow paths when the thread has read other files since. */
  async refresh({ gate }: Setup): Promise<void> {
    const { ports, state } = this.#driver;
    const { turn, files } = state;
    if (ports.sources.length === 0 || !turn) return;
    const isNewTurn = this.#at?.turnId !== turn.turnId;
    if (!isNewTurn && this.#at?.seen === files.seen) return;
    this.#at = { turnId: turn.turnId, seen: files.seen };
    const pathRules = pathRulesOf(gate, this.#driver.journal.policies);
    const read = await Promise.all(
      ports.sources.map(async (source) => {
        const isDue = isNewTurn || source.followsPaths;
        return [source.name, isDue ? await this.#read(source, pathRules) : this.#known.get(source.name)] as const;
      }),
    );
    this.#known = new Map(read.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])));
  }

  /** Each problem is shown once for a thread. */
  #report(source: ContextSource, problems: readonly string[]): void {
    const { journal } = this.#driver;
    const known = shown.get(source) ?? new Set();
    shown.set(source, known);
    for (const message of problems.slice(0, MAX_PROBLEMS)) {
      const key = `${journal.id} ${message}`;
      if (known.has(key)) continue;
      if (known.size >= MAX_SHOWN) known.clear();
      known.add(key);
      journal.live({ type: "info", message });
    }
  }

  /** What it was before, if it can't be read. `undefined`: it never could. */
  async #read(source: ContextSource, pathRules: PathRuleLists): Promise<ReadSource | null | undefined> {
    const { ports, state, journal, signal } = this.#driver;
    const reach = {
      threadId: journal.id,
      resourceId: state.resourceId,
      files: ports.workspace?.reader?.({ threadId: journal.id, files: new CallFiles(this.#driver), signal, pathRules }),
      known: state.head?.sources[source.name]?.version || undefined,
      isTrusted: ports.workspace?.trusted ?? false,
      paths: Array.from(trieKeys(state.files.seen)),
      signal,
    };
    try {
      const read = await withTimeout(ports.clock, readBy(source, reach), { ms: READ_MS });
      // What it could not read then is not gone.
      if (signal.aborted) return this.#known.get(source.name);
      if (!read) throw new Error(`There was no text within ${READ_MS / 1000} s.`);
      const { found } = read;
      this.#report(source, found?.problems ?? []);
      if (!found || found.text === "") return null;
      const text = found.text.slice(0, TEXT_CHARS).toWellFormed();
      const { version = await hashOf(new TextEncoder().encode(text)), change = text } = found;
      return { name: source.name, text, version, change: change.slice(0, TEXT_CHARS).toWellFormed() };
    } catch (error) {
      const message = `The context source "${source.name}" could not be read: ${reasonOf(error)}`;
      if (!signal.aborted) journal.live({ type: "info", message });
      return this.#known.get(source.name);
    }
  }
}

/** The code of a source is the user's: what it returns may be anything. */
const Found = z.lazy(() =>
  z.nullish(
    z.object({
      text: z.string(),
      // "" stands for no text in the journal.
      version: z.optional(z.string().check(z.minLength(1), z.maxLength(1_000))),
      change: z.optional(z.string()),
      problems: z.optional(z.array(z.string())),
    }),
  ),
);

const readBy = async (source: ContextSource, reach: SourceReach) => ({
  found: checked(Found, await source.read(reach), "INVALID_INPUT", "What it returned can't be used"),
});

/** Notes about sources whose text is not the one that the prompt has. */
export function changedSources(
  state: ThreadState,
  { sources: { texts, unread }, ids, now }: { sources: SourceTexts; ids: Ids; now: number },
): NewEvent[] {
  const { head, turn } = state;
  if (!head || !turn) return [];
  const { turnId } = turn;
  const date = dateInNote(now);
  const note = (name: string, version: string, text: string): NewEvent => ({
    type: "message_end",
    turnId,
    about: "context",
    source: { name, version },
    message: { id: ids("message"), role: "note", content: [{ type: "text", text }] },
  });
  const changed = texts.filter(({ name, version }) => head.sources[name]?.version !== version);
  const gone = Object.entries(head.sources).filter(
    ([name, { version }]) => version !== "" && !unread.has(name) && !texts.some((text) => text.name === name),
  );
  return [
    ...changed.map(({ name, version, change }) => {
      const isNew = head.sources[name] === undefined || head.sources[name].version === "";
      const since = `${isNew ? "New" : "Changed"} since this conversation began`;
      return note(name, version, `${since}: ${name} (${date})\n\n${change}`);
    }),
    ...gone.map(([name]) => note(name, "", `Not there any more, and no longer in force: ${name} (${date})`)),
  ];
}

/** The date in a note. */
export const dateInNote = (now: number): string => `${new Date(now).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** What the head records of its sources. */
export const recordOf = (texts: readonly ReadSource[]): Record<string, { version: string; tokens: number }> =>
  Object.fromEntries(texts.map(({ name, version, text }) => [name, { version, tokens: tokensOfText(text) }]));
