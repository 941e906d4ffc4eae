import { appendFileSync, existsSync } from "node:fs";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { CinchError, type Session } from "@cinch/core";
import { memberHarness } from "./member-harness.ts";
import type { MemberOptions } from "./member-options.ts";

/** A process of the team: a worker, or a front whose people talk to threads until the file `stop` is there. */
const options = JSON.parse(process.argv[2]!) as MemberOptions;
const { role, folder, threads } = options;
const harness = memberHarness(options);
const isOver = () => existsSync(`${folder}/stop`);
/** A store that is away answers later. */
const PASSING = ["STORE_BUSY", "STORE_FAILED", "NOT_PENDING", "ALREADY_ANSWERED"];

process.once("SIGTERM", () => {
  harness.close({ drainMs: 10_000 }).then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
// The test has ended, in whatever way.
process.once("disconnect", () => process.exit(1));
await persist(() => harness.init());
process.send?.("ready");
if (role === "front") {
  await Promise.all(threads.map((threadId) => talk(threadId)));
  await harness.close();
  process.exit(0);
}

async function talk(threadId: string): Promise<void> {
  const seat = await persist(() => harness.createSession({ threadId }));
  const events = await persist(() => seat.listEvents());
  // What a front that was killed has begun.
  await settle(seat);
  const sent = events.flatMap((event) => (event.type === "input_accepted" ? [event.inputId] : []));
  for (let nth = Math.max(1, sent.length); !isOver(); nth++) {
    const id = `${threadId} ${nth}`;
    // The message of a front that was killed meanwhile may be there, or not: it is the same one.
    await persist(() => seat.post({ id, content: `Work: ${id}`, delivery: "send" }));
    appendFileSync(`${folder}/accepted`, `${JSON.stringify({ threadId, id })}\n`);
    await settle(seat);
    await pause(Math.random() * 300);
  }
}

/** As a person: approves what asks, and resumes what is parked. */
async function settle(seat: Session): Promise<void> {
  for (; ; await pause(30)) {
    const { status, inbox, pendingApproval } = seat.getDisplayState();
    if (status === "idle" && inbox.length === 0) return;
    if (status === "parked") await persist(() => seat.resume());
    if (pendingApproval) {
      const { toolCallId, digest } = pendingApproval;
      await persist(() => seat.respondToToolApproval({ toolCallId, digest, decision: "approve" }));
    }
  }
}

async function persist<T>(command: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await command();
    } catch (error) {
      if (!(error instanceof CinchError) || !PASSING.includes(error.code)) throw error;
      if (error.code === "NOT_PENDING" || error.code === "ALREADY_ANSWERED") return undefined as T;
      await pause(100);
    }
  }
}
