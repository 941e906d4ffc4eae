import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Store } from "@cinch/core";
import type { RestateOptions } from "@cinch/restate";
import { MortalPostgres } from "../../../postgres/test/mortal-postgres.ts";
import { bundle } from "../../../testkit/test/bundle.ts";
import { freePort } from "../../../testkit/test/free-port.ts";
import { MortalRestate } from "../mortal-restate.ts";
import { storeOf } from "./member-harness.ts";
import type { MemberOptions } from "./member-options.ts";
import { MemberProcess } from "./member-process.ts";
import { judge, type TeamVerdict } from "./oracle.ts";

interface TeamOptions {
  store: "sqlite" | "postgres";
  placement: "restate" | "graphile";
  threads: number;
}

/** Three workers and two fronts on one store and one engine. The store, the engine and every process can be killed. */
export class Team implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cinch-team-"));
  readonly members: MemberProcess[] = [];
  readonly #options: TeamOptions;
  postgres: MortalPostgres | undefined;
  restate: MortalRestate | undefined;
  #member!: Omit<MemberOptions, "role" | "threads">;

  private constructor(options: TeamOptions) {
    this.#options = options;
  }

  static async start(options: TeamOptions): Promise<Team> {
    const team = new Team(options);
    await team.#startServers();
    await team.#startMembers();
    return team;
  }

  /** Not open. */
  store(): Store {
    return storeOf(this.#member);
  }

  /** How many messages were accepted so far. */
  accepted(): number {
    const file = join(this.folder, "accepted");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
  }

  /** Lets the fronts end what they have begun, then the workers. Tells what the oracle finds. */
  async end(ms: number): Promise<TeamVerdict> {
    writeFileSync(join(this.folder, "stop"), "");
    const late = Date.now() + ms;
    const fronts = this.members.filter(({ role }) => role === "front");
    const isEnded = (front: MemberProcess) => !front.isAlive && front.exitCode === 0;
    while (!fronts.every(isEnded) && Date.now() < late) await pause(100);
    const problems = fronts.filter((front) => !isEnded(front)).map(({ name }) => `${name} has not ended its threads`);
    const workers = this.members.filter(({ role }) => role === "worker");
    for (const worker of workers) worker.signal("SIGTERM");
    await Promise.all(
      workers.map((worker) => Promise.race([worker.ended(), pause(300_000, undefined, { ref: false })])),
    );
    problems.push(...workers.filter(({ isAlive }) => isAlive).map(({ name }) => `${name} has not drained`));
    const store = this.store();
    await store.open();
    try {
      const verdict = await judge(this.folder, store);
      return { ...verdict, problems: [...problems, ...verdict.problems] };
    } finally {
      await store.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
    await this.restate?.[Symbol.asyncDispose]();
    await this.postgres?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #startServers(): Promise<void> {
    const { folder } = this;
    const { store, placement } = this.#options;
    if (store === "postgres") {
      this.postgres = new MortalPostgres();
      await this.postgres.start();
    }
    this.#member = {
      folder,
      store: store === "sqlite" ? { sqlite: join(folder, "team.db") } : { postgres: { url: this.postgres!.url } },
      placement: placement === "graphile" ? "graphile" : await this.#startRestate(),
    };
  }

  async #startRestate(): Promise<{ restate: RestateOptions }> {
    this.restate = new MortalRestate();
    const { ingress, admin, identity } = await this.restate.start();
    return { restate: { ingress, admin, identity, advertise: `http://127.0.0.1:${await freePort()}` } };
  }

  async #startMembers(): Promise<void> {
    const program = await bundle(new URL("./member.ts", import.meta.url));
    const ids = Array.from({ length: this.#options.threads }, (_, at) => `thread-${at + 1}`);
    await this.#createThreads(ids);
    for (const at of [1, 2, 3])
      this.members.push(new MemberProcess(`worker-${at}`, program, { ...this.#member, role: "worker", threads: [] }));
    for (const at of [0, 1]) {
      const threads = ids.filter((_, n) => n % 2 === at);
      this.members.push(new MemberProcess(`front-${at + 1}`, program, { ...this.#member, role: "front", threads }));
    }
    await Promise.all(this.members.map((member) => member.start()));
  }

  async #createThreads(ids: readonly string[]): Promise<void> {
    const { memberHarness } = await import("./member-harness.ts");
    const harness = memberHarness({ ...this.#member, role: "front", threads: [] });
    await harness.init();
    for (const id of ids) await harness.createThread({ id });
    await harness.close();
  }
}
