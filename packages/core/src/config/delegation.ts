import { Agent, AgentList, type SubagentCatalog } from "./agent.ts";
import type { ListedAgent } from "../events/event-map.ts";
import { withTimeout, type Clock } from "../ports/clock.ts";

/** How long a catalog may take. It may be on another machine. */
const CATALOG_MS = 10_000;

/** There unless the catalog has an agent of this name, or a profile turns it off. It has the model of its parent and the tools of the workspace. */
const generalPurpose = new Agent({
  name: "general-purpose",
  description:
    "For any task of several steps that would fill your context with details: it works alone and reports the result.",
  instructions: `You work on one task for another agent. You see nothing of its conversation, and it sees only your last message.
Do the task completely, with the tools that you have. End with a report that contains everything the other agent needs: findings, paths, decisions, and what you could not do.`,
});

/** What an agent without a catalog can delegate to. */
export const withoutCatalog: readonly ListedAgent[] = [
  { name: generalPurpose.name, description: generalPurpose.description },
];

/** Whether this is the built-in agent, and not the caller's own of that name. */
export const isGeneralPurpose = (agent: ListedAgent): boolean =>
  agent.name === generalPurpose.name && agent.description === generalPurpose.description;

export interface CatalogPorts {
  clock: Clock;
  /** Aborted when the harness is closed: it waits for no catalog any more. */
  closing: AbortSignal;
  /** Throws `INVALID_CONFIG` for an agent that can't be used here. */
  checkAgent(agent: Agent): void;
}

/** The subagents of one agent. */
export class Delegation {
  readonly agent: Agent;
  readonly catalog: SubagentCatalog | undefined;
  readonly #ports: CatalogPorts;

  constructor(agent: Agent, catalog: SubagentCatalog | undefined, ports: CatalogPorts) {
    this.agent = agent;
    this.catalog = catalog;
    this.#ports = ports;
  }

  /** Sorted by name. `undefined`: the catalog failed, or did not answer in time. */
  async list(): Promise<readonly ListedAgent[] | undefined> {
    if (!this.catalog) return withoutCatalog;
    if (this.catalog instanceof AgentList) return listed(this.catalog);
    return this.#inTime(listed(this.catalog)).catch(() => undefined);
  }

  /** Rejects after the timeout: a catalog that does not answer may have the agent. */
  async #resolved(catalog: SubagentCatalog, name: string): Promise<Agent | undefined> {
    const answered = (async () => ({ agent: await catalog.resolve(name) }))();
    const answer = await this.#inTime(answered);
    if (!answer) throw new Error(`The catalog of subagents did not answer within ${CATALOG_MS / 1_000} s.`);
    return answer.agent;
  }

  #inTime<T>(answered: Promise<T>): Promise<T | undefined> {
    const { clock, closing } = this.#ports;
    return withTimeout(clock, answered, { ms: CATALOG_MS, signal: closing });
  }

  /** `undefined`: there is no agent of this name. Rejects if the catalog does, and for an agent that can't be used here. */
  async resolve(name: string): Promise<Agent | undefined> {
    const isList = this.catalog instanceof AgentList;
    const found = await (isList ? this.catalog?.resolve(name) : this.catalog && this.#resolved(this.catalog, name));
    if (found instanceof Agent) {
      this.#ports.checkAgent(found);
      return found;
    }
    return name === generalPurpose.name ? generalPurpose : undefined;
  }
}

async function listed(catalog: SubagentCatalog): Promise<readonly ListedAgent[]> {
  const own = await catalog.list();
  const all = own.some(({ name }) => name === generalPurpose.name) ? own : [...own, generalPurpose];
  return all.map(listedAgent).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A catalog is code of the user: its answer may lack a description. */
const listedAgent = ({ name, description }: Partial<ListedAgent>): ListedAgent => ({
  name: String(name),
  description: description ?? "",
});
