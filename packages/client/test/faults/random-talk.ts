import assert from "node:assert/strict";
import type { DurableEvent } from "@cinch/core";
import type { RemoteSession } from "@cinch/client";
import type { Seeded } from "./seeded.ts";

/** The commands that a run gave, and what came of them. */
export interface TalkRecord {
  inputs: { id: string; settled: number }[];
  titles: string[];
}

/**
 * A person at a thread, at random: messages that use tools, follow-ups, steers, edits of the queue, new titles. What the tools ask is
 * answered as soon as the client shows it. Settles when the thread is idle.
 */
export async function randomTalk(session: RemoteSession, random: Seeded, name = "p"): Promise<TalkRecord> {
  const record: TalkRecord = { inputs: [], titles: [] };
  const stopAnswering = answerAll(session);
  const turns: Promise<unknown>[] = [];
  const send = async (content: string) => {
    const input = { id: `${name}-${record.inputs.length}`, settled: 0 };
    record.inputs.push(input);
    const result = await session.sendMessage({ content, id: input.id });
    assert.equal(result.reason, "complete");
    input.settled++;
  };
  const acts = 2 + random.below(3);
  for (let act = 0; act < acts; act++) {
    const turn = send(`Message ${act}: ${uses(random)}`);
    turns.push(turn);
    if (random.chance(0.4)) {
      const title = `Title ${name} ${act}`;
      record.titles.push(title);
      turns.push(session.renameThread({ title }));
    }
    if (random.chance(0.3)) turns.push(queued(session, record, `${name}-queued-${act}`));
    if (random.chance(0.6)) await turn;
  }
  await Promise.all(turns);
  await session.settled();
  stopAnswering();
  return record;
}

const uses = (random: Seeded): string =>
  Array.from({ length: random.below(3) }, () => `use ${random.pick(["count", "guarded", "question"])}`).join(", ");

async function queued(session: RemoteSession, record: TalkRecord, id: string): Promise<void> {
  const { inputId } = await session.followUp({ content: `Also: ${id}`, id });
  assert.equal(inputId, id);
  record.inputs.push({ id, settled: 1 });
}

/** Answers what waits, each question once. */
function answerAll(session: RemoteSession): () => void {
  const answered = new Set<string>();
  const answer = async () => {
    const { pendingApprovals, pendingSuspensions } = session.getDisplayState();
    for (const { toolCallId, digest, seq } of Object.values(pendingApprovals)) {
      if (answered.has(`${toolCallId} ${seq}`)) continue;
      answered.add(`${toolCallId} ${seq}`);
      await session.respondToToolApproval({ toolCallId, decision: "approve", digest });
    }
    for (const { toolCallId, seq } of Object.values(pendingSuspensions)) {
      if (answered.has(`${toolCallId} ${seq}`)) continue;
      answered.add(`${toolCallId} ${seq}`);
      await session.respondToToolSuspension({ toolCallId, resumeData: "this one", seq });
    }
  };
  return session.subscribe(() => void answer());
}

/** Each command happened once, and each question was answered once. */
export function verifyCommands(journal: readonly DurableEvent[], { inputs, titles }: TalkRecord): void {
  const of = <T extends DurableEvent["type"]>(type: T) =>
    journal.flatMap((event) => (event.type === type ? [event as DurableEvent & { type: T }] : []));
  const accepted = of("input_accepted").map(({ inputId }) => inputId);
  for (const { id, settled } of inputs) {
    assert.equal(accepted.filter((inputId) => inputId === id).length, 1, `${id} is accepted once`);
    assert.equal(settled, 1, `${id} settles once`);
  }
  const renamed = of("thread_renamed").map(({ title }) => title);
  for (const title of titles) assert.equal(renamed.filter((one) => one === title).length, 1, `${title} is given once`);
  const asked = of("tool_approval_required").length;
  assert.equal(of("tool_approval_resolved").length, asked, "each approval is answered once");
  assert.equal(of("tool_resumed").length, of("tool_suspended").length, "each question is answered once");
  const started = of("tool_start").map(({ toolCallId }) => toolCallId);
  const questions = new Set(of("tool_suspended").map(({ toolCallId }) => toolCallId));
  const twice = started.filter((id, at) => started.indexOf(id) !== at && !questions.has(id));
  assert.deepEqual(twice, [], "no tool runs twice");
}
