import type { AgentRecord } from "../events/event-map.ts";
import type { Modes } from "./modes.ts";

/** The modes of every thread: those of the harness, or for the thread of a subagent those of its agent. */
export class AgentModes {
  readonly top: Modes;
  readonly #subagents = new Map<string, Promise<Modes | null>>();

  constructor(top: Modes) {
    this.top = top;
  }

  /** Rejects if a catalog does. */
  async ofThread({ agent }: { agent: AgentRecord | null }): Promise<Modes> {
    return agent ? ((await this.of(agent)) ?? this.top.without(agent)) : this.top;
  }

  /** `null`: this process lacks the agent. Another process may have it. */
  of(record: AgentRecord): Promise<Modes | null> {
    const key = JSON.stringify([record.modeId, record.depth, record.path]);
    const known = this.#subagents.get(key) ?? this.#resolve(record);
    this.#subagents.set(key, known);
    const forget = () => this.#subagents.delete(key);
    known.then((modes) => modes ?? forget(), forget);
    return known;
  }

  async #resolve(record: AgentRecord): Promise<Modes | null> {
    const { path, depth } = record;
    const above = path.length > 1 ? await this.of({ ...record, path: path.slice(0, -1), depth: depth + 1 }) : this.top;
    return above && above.ofSubagent(record);
  }
}
