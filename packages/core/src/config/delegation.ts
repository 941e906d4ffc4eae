import { Agent, type SubagentCatalog } from "./agent.ts";
import { withTimeout, type Clock } from "../ports/clock.ts";

/** How long a catalog may take. It may be on another machine. */
const CATALOG_MS = 10_000;

/** A subagent as the `task` tool lists it. */
export interface ListedAgent {
  name: string;
  description: string;
}

/** There unless the catalog has an agent of this name. It has the model of its parent and the tools of the workspace. */
const generalPurpose = new Agent({
  name: "general-purpose",
  description:
    "For any task of several steps that would fill your context with details: it works alone and reports the result.",
  instructions: `You work on one task for another agent. You see nothing of its conversation, and it sees only your last message.
Do the task completely, with the tools that you have. End with a report that contains everything the other agent needs: findings, paths, decisions, and what you could not do.`,
});

export interface CatalogPorts {
  clock: Clock;
  /** Throws `INVALID_CONFIG` for an agent that can't be used here. */
  checkAgent(agent: Agent): void;
}

/** The subagents of one agent. */
export class Delegation {
  readonly agent: Agent;
  readonly #catalog: SubagentCatalog | undefined;
  readonly #ports: CatalogPorts;
  #listed: readonly ListedAgent[] = [generalPurpose];
  #version = 0;
  #first: Promise<void> | undefined;

  constructor(agent: Agent, catalog: SubagentCatalog | undefined, ports: CatalogPorts) {
    this.agent = agent;
    this.#catalog = catalog;
    this.#ports = ports;
  }

  /** By name. */
  get listed(): readonly ListedAgent[] {
    return this.#listed;
  }

  /** Changes whenever the list changes. */
  get version(): number {
    return this.#version;
  }

  /** Settles when the catalog was listed at least once. */
  ready(): Promise<void> {
    return this.#first ?? this.refresh();
  }

  /** Lists the catalog again. If that fails, the last list stands. */
  refresh(): Promise<void> {
    return (this.#first = this.#refresh());
  }

  async #refresh(): Promise<void> {
    const listed = await this.#list().catch(() => undefined);
    if (!listed || JSON.stringify(listed) === JSON.stringify(this.#listed)) return;
    this.#listed = listed;
    this.#version++;
  }

  async #list(): Promise<readonly ListedAgent[] | undefined> {
    const own = this.#catalog ? await withTimeout(this.#ports.clock, this.#catalog.list(), CATALOG_MS) : [];
    if (!own) return undefined;
    const all = own.some(({ name }) => name === generalPurpose.name) ? own : [...own, generalPurpose];
    return all.map(({ name, description }) => ({ name, description })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Rejects after the timeout: a catalog that does not answer may have the agent. */
  async #resolved(catalog: SubagentCatalog, name: string): Promise<Agent | undefined> {
    const answered = (async () => ({ agent: await catalog.resolve(name) }))();
    const answer = await withTimeout(this.#ports.clock, answered, CATALOG_MS);
    if (!answer) throw new Error(`The catalog of subagents did not answer within ${CATALOG_MS / 1_000} s.`);
    return answer.agent;
  }

  /** `undefined`: there is no agent of this name. Rejects if the catalog does, and for an agent that can't be used here. */
  async resolve(name: string): Promise<Agent | undefined> {
    const found = this.#catalog && (await this.#resolved(this.#catalog, name));
    if (found instanceof Agent) {
      this.#ports.checkAgent(found);
      return found;
    }
    return name === generalPurpose.name ? generalPurpose : undefined;
  }
}
