import type { AgentRecord } from "../events/event-map.ts";
import { warn } from "../ports/warn.ts";
import type { Agent } from "./agent.ts";
import type { Modes } from "./modes.ts";

/** The modes of every thread: those of the harness, or for the thread of a subagent those of its agent. */
export class AgentModes {
  readonly top: Modes;
  readonly #subagents = new Map<string, { agent: Agent; above: Modes; modes: Modes }>();

  readonly #warnings = new Set<string>();

  constructor(top: Modes) {
    this.top = top;
  }

  /** Warns once about each name in the configuration that is the name of no tool. */
  warnOfUnknownTools(modes: Modes): void {
    const messages = modes.unknownTools().filter((message) => !this.#warnings.has(message));
    for (const message of messages) {
      this.#warnings.add(message);
      warn("CINCH_UNKNOWN_TOOL", message);
    }
  }

  /** Rejects if a catalog does. */
  async ofThread({ agent }: { agent: AgentRecord | null }): Promise<Modes> {
    return agent ? ((await this.of(agent)) ?? this.top.without(agent)) : this.top;
  }

  /** `null`: this process lacks the agent. Another process may have it. */
  async of(record: AgentRecord): Promise<Modes | null> {
    const { path, modeId, depth } = record;
    const above = path.length > 1 ? await this.of({ ...record, path: path.slice(0, -1), depth: depth + 1 }) : this.top;
    const agent = await above?.resolveSubagent(record);
    if (!above || !agent) return null;
    const key = JSON.stringify([modeId, depth, path]);
    const known = this.#subagents.get(key);
    // A catalog may have another agent of this name by now.
    if (known?.agent === agent && known.above === above) return known.modes;
    const modes = above.ofSubagent(agent, record);
    this.warnOfUnknownTools(modes);
    this.#subagents.set(key, { agent, above, modes });
    return modes;
  }
}
