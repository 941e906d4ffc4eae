import type { PostgresOptions } from "@cinch/postgres";
import type { RestateOptions } from "@cinch/restate";

/** What a process of the team is started with. */
export interface MemberOptions {
  role: "worker" | "front";
  store: { sqlite: string } | { postgres: PostgresOptions };
  placement: { restate: RestateOptions } | "graphile";
  /** Has the files `effects`, `accepted` and, in the end, `stop`. */
  folder: string;
  /** The threads that a front talks to. */
  threads: string[];
}
