import { Agent, type SubagentCatalog } from "./agent.ts";
import { withTimeout, type Clock } from "../ports/clock.ts";

/** How long a catalog may take. It may be on another machine. */
const CATALOG_MS = 10_000;

/** A subagent as the `task` tool lists it. */
export interface ListedAgent {
  name: string;
  description: string;
}

/** The agents that `task` can start. */
export type TaskAgents = Pick<Delegation, "agent" | "listed" | "resolve">;

/** There unless the catalog has an agent of this name, or a profile turns it off. It has the model of its parent and the tools of the workspace. */
const generalPurpose = new Agent({
  name: "general-purpose",
  description:
    "For any task of several steps that would fill your context with details: it works alone and reports the result.",
  instructions: `You work on one task for another agent. You see nothing of its conversation, and it sees only your last message.
Do the task completely, with the tools that you have. End with a report that contains everything the other agent needs: findings, paths, decisions, and what you could not do.`,
});

/** The subagents of one agent. */
export class Delegation {
  readonly agent: Agent;
  readonly #catalog: SubagentCatalog | undefined;
  readonly #clock: Clock;
  #listed: readonly ListedAgent[] = [generalPurpose];
  #hasOwnGeneralPurpose = false;
  #version = 0;
  #first: Promise<void> | undefined;

  constructor(agent: Agent, catalog: SubagentCatalog | undefined, clock: Clock) {
    this.agent = agent;
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /** By name. */
  get listed(): readonly ListedAgent[] {
    return this.#listed;
  }

  /** As a profile has it. `null`: there is no agent to delegate to. */
  with({ hasGeneralPurpose }: { hasGeneralPurpose: boolean }): TaskAgents | null {
    if (hasGeneralPurpose) return this;
    const listed = this.#listed.filter((one) => one !== this.#builtIn);
    if (listed.length === 0) return null;
    const resolve = async (name: string) => {
      const agent = await this.resolve(name);
      return agent === generalPurpose ? undefined : agent;
    };
    return { agent: this.agent, listed, resolve };
  }

  get #builtIn(): ListedAgent | undefined {
    return this.#hasOwnGeneralPurpose ? undefined : this.#listed.find(({ name }) => name === generalPurpose.name);
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
    const own = this.#catalog ? await withTimeout(this.#clock, this.#catalog.list(), CATALOG_MS) : [];
    if (!own) return undefined;
    this.#hasOwnGeneralPurpose = own.some(({ name }) => name === generalPurpose.name);
    const all = this.#hasOwnGeneralPurpose ? own : [...own, generalPurpose];
    return all.map(({ name, description }) => ({ name, description })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Rejects after the timeout: a catalog that does not answer may have the agent. */
  async #resolved(catalog: SubagentCatalog, name: string): Promise<Agent | undefined> {
    const answered = (async () => ({ agent: await catalog.resolve(name) }))();
    const answer = await withTimeout(this.#clock, answered, CATALOG_MS);
    if (!answer) throw new Error(`The catalog of subagents did not answer within ${CATALOG_MS / 1_000} s.`);
    return answer.agent;
  }

  /** `undefined`: there is no agent of this name. Rejects if the catalog does. */
  async resolve(name: string): Promise<Agent | undefined> {
    const found = this.#catalog && (await this.#resolved(this.#catalog, name));
    if (found instanceof Agent) return found;
    return name === generalPurpose.name ? generalPurpose : undefined;
  }
}
