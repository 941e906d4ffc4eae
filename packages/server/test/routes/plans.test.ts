import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import type { MayRole } from "@cinch/server";
import { errorOf, people, serving } from "../serving.ts";

/** A thread whose agent has called the tool and waits for the answer of a caller with these roles. */
async function asking({ tool, args, may }: { tool: string; args: Record<string, unknown>; may: readonly MayRole[] }) {
  const model = script(call(tool, args), say("done"));
  const agent = new Agent({ name: "tester", model });
  const at = await serving({
    model,
    authenticate: (request) => ({ ...people[0]!, ...(request.headers.get("authorization") ? {} : { may }) }),
    harness: {
      agent: undefined,
      modes: [
        { id: "plan", agent, transitionsTo: "build" },
        { id: "build", agent },
      ],
    } as never,
  });
  const owner = at.at.as("owner");
  const { id } = await owner.thread();
  await owner.post(`/v1/threads/${id}/post`, { content: "go", delivery: "send" });
  await owner.get(`/v1/threads/${id}/settled`);
  const modeOf = async () => (await owner.json<{ control: { modeId: string } }>(`/v1/threads/${id}`)).control.modeId;
  const answer = (resumeData: unknown) => at.at.post(`/v1/threads/${id}/respondToToolSuspension`, { resumeData });
  const settled = () => owner.get(`/v1/threads/${id}/settled`);
  return { ...at, answer, modeOf, settled };
}

const plan = { tool: "submit_plan", args: { plan: "1. Do it." } };
const question = { tool: "ask_user", args: { question: "Which one?" } };

test("a plan is approved or rejected by a caller that may approve, whether or not it may talk", async () => {
  for (const may of [["approve"], ["talk", "approve"]] as const) {
    await using at = await asking({ ...plan, may });
    assert.equal(await at.modeOf(), "plan");
    assert.equal((await at.answer({ action: "approved" })).status, 204);
    await at.settled();
    assert.equal(await at.modeOf(), "build");
  }
});

test("a plan still waits if a caller answers it that may only talk, or switch modes, but not approve", async () => {
  await using at = await asking({ ...plan, may: ["read", "talk", "manage"] });
  for (const action of ["approved", "rejected"]) {
    const refused = await at.answer({ action });
    assert.deepEqual([refused.status, errorOf(refused).code], [403, "PERMISSION_DENIED"]);
  }
  assert.equal(await at.modeOf(), "plan");
  assert.equal((await at.harness.pending()).length, 1);
});

test("a question is answered by a caller that may talk, and by no other", async () => {
  await using talker = await asking({ ...question, may: ["talk"] });
  assert.equal((await talker.answer("this one")).status, 204);
  for (const may of [["read", "approve", "manage"], ["read"]] as const) {
    await using at = await asking({ ...question, may });
    assert.equal((await at.answer("that one")).status, 403);
    assert.equal((await at.harness.pending()).length, 1);
  }
});
