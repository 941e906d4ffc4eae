import type { AbortOptions } from "../cli-command.ts";
import { ExitCode } from "../exit.ts";
import { findThread } from "../threads/find-thread.ts";
import { withDatabase } from "../threads/open-store.ts";

/** `cinch abort`: ends the turn of a thread, whichever process drives it. */
export async function abortThread({ db, id }: AbortOptions): Promise<number> {
  return withDatabase({ db }, async ({ store, harness, path }) => {
    const thread = await findThread(store, { id, path });
    if (thread.active) await (await harness.createSession({ threadId: thread.id })).abort();
    process.stderr.write(`${thread.active ? "aborted" : "nothing to abort in"} ${thread.id}\n`);
    return ExitCode.complete;
  });
}
