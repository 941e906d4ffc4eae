import assert from "node:assert/strict";
import type { Client, RemoteSession } from "@cinch/client";
import type { CinchError, DurableEvent } from "@cinch/core";
import type { Seeded } from "./seeded.ts";

/** What a run asked for, each with a value of its own, so that its event can be counted. */
export interface GivenCommands {
  /** By type of event, the values that one event each must have. */
  events: [type: DurableEvent["type"], value: string][];
  /** Titles of threads that must exist once. */
  threads: string[];
}

/** Every command that has no id of its own, at random moments of a thread that is idle otherwise. Settles when it is idle again. */
export async function everyCommand(
  client: Client,
  session: RemoteSession,
  { random, name }: { random: Seeded; name: string },
): Promise<GivenCommands> {
  const given: GivenCommands = { events: [], threads: [] };
  await Promise.all(
    settings(session, random, name).map(([type, value, give]) => expected(given, { type, value, give })),
  );
  await queueOfWaitingTurn(session, given, name);
  const compacted = await expected(given, {
    type: "compaction_requested",
    value: `${name} keep this`,
    give: (instructions) => session.compact({ instructions }),
  });
  assert.ok(compacted.range);
  await otherThreads(client, given, { threadId: session.getCurrentThreadId()!, name });
  return given;
}

interface Given<T> {
  type: DurableEvent["type"];
  value: string;
  give(value: string): Promise<T>;
}

function expected<T>({ events }: GivenCommands, { type, value, give }: Given<T>): Promise<T> {
  events.push([type, value]);
  return give(value);
}

type Setting = [type: DurableEvent["type"], value: string, give: (value: string) => Promise<void>];

function settings(session: RemoteSession, random: Seeded, name: string): Setting[] {
  const all: Setting[] = [
    ["thread_renamed", `${name} title`, (title) => session.renameThread({ title })],
    ["state_changed", `${name} state`, (value) => session.setState({ value })],
    ["model_changed", `${name}-model`, (modelId) => session.switchModel({ modelId })],
    ["permission_changed", `${name}_denied`, (toolName) => session.setPermissionForTool({ toolName, policy: "deny" })],
    ["grant_added", `${name}_granted`, (toolName) => session.grantSessionTool({ toolName })],
    ["mode_changed", "quiet", (modeId) => session.switchMode({ modeId })],
    [
      "permission_changed",
      '"category":"edit"',
      () => session.setPermissionForCategory({ category: "edit", policy: "ask" }),
    ],
    ["grant_added", '"category":"execute"', () => session.grantSessionCategory({ category: "execute" })],
  ];
  return all.toSorted(() => random.next() - 0.5);
}

/** A turn that waits for an answer: what is queued behind it stays until the turn is aborted. Afterwards the turn is retried. */
async function queueOfWaitingTurn(session: RemoteSession, given: GivenCommands, name: string): Promise<void> {
  const turn = session.sendMessage({ content: "hold, use question", id: `${name}-held` });
  while (Object.keys(session.getDisplayState().pendingSuspensions).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 2));
  const queued = async (id: string) => (await session.followUp({ content: id, id })).inputId;
  await expected(given, {
    type: "input_edited",
    value: `${name} edited`,
    give: async (content) => session.editInput({ inputId: await queued(`${name}-edit`), content }),
  });
  await expected(given, {
    type: "input_removed",
    value: `${name}-remove`,
    give: async (id) => session.removeInput({ inputId: await queued(id) }),
  });
  await expected(given, { type: "abort_requested", value: "", give: () => session.abort() });
  assert.equal((await turn).reason, "aborted");
  const retried = await expected(given, { type: "input_accepted", value: '"retry":', give: () => session.retry() });
  assert.equal(retried.reason, "complete");
  await session.settled();
}

/** Threads that are created, cloned and deleted by another session, so that this one stays where it is. */
async function otherThreads(
  client: Client,
  { threads }: GivenCommands,
  { threadId, name }: { threadId: string; name: string },
): Promise<void> {
  const other = await client.createSession({ threadId });
  try {
    threads.push(`${name} clone`, `${name} new`);
    await other.cloneThread({ title: `${name} clone` });
    await other.createThread({ title: `${name} new` });
    const { id } = await other.createThread({ title: `${name} deleted` });
    await deleted(other, id);
    const titles = (await other.listThreads()).map(({ title }) => title);
    assert.ok(!titles.includes(`${name} deleted`));
    for (const title of threads) assert.equal(titles.filter((one) => one === title).length, 1, `one thread "${title}"`);
  } finally {
    await other.close();
  }
}

/** A network that sends the request twice by itself may bring the answer to the second one. */
async function deleted(session: RemoteSession, threadId: string): Promise<void> {
  const code = await session.deleteThread({ threadId }).then(
    () => null,
    (error: CinchError) => error.code,
  );
  assert.ok(code === null || code === "THREAD_NOT_FOUND", String(code));
}

/** Each command happened once. */
export function verifyGiven(journal: readonly DurableEvent[], { events }: GivenCommands): void {
  for (const [type, value] of events) {
    const found = journal.filter((event) => event.type === type && JSON.stringify(event).includes(value));
    assert.equal(found.length, 1, `${type} "${value}" happened once`);
  }
  const ids = journal.flatMap((event) => ("command" in event && event.command ? [event.command.id] : []));
  assert.equal(new Set(ids).size, ids.length, "no command is recorded twice");
}
