import { Agent, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import type { AbortOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { findThread } from "../threads/find-thread.ts";
import { existingDatabase } from "../threads/open-store.ts";

/** `cinch abort`: ends the turn of a thread, whichever process drives it. */
export async function abortThread({ db, id }: AbortOptions): Promise<number> {
  const path = existingDatabase({ db });
  const store = sqliteStore({ path });
  // No agent of ours acts here, and an interrupted turn must not continue before it is aborted.
  const harness = new Harness({
    id: "cinch-abort",
    storage: store,
    agent: new Agent({ name: "cinch" }),
    onRecover: "pause",
  });
  try {
    await harness.init();
    const thread = await findThread(store, { id, path });
    if (!thread.active) {
      process.stderr.write(`nothing to abort in ${thread.id}\n`);
      return ExitCode.complete;
    }
    const session = await harness.createSession({ threadId: thread.id });
    await session.abort();
    process.stderr.write(`aborted ${thread.id}\n`);
    return ExitCode.complete;
  } finally {
    await harness.close();
  }
}
