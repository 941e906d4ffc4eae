import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { next } from "../support.ts";
import { heldBack, resultsOf } from "./requests.ts";

test("a subagent gives its own report to its call, although a background one of the turn that ends first has the same call id", async () => {
  const [slow, quick] = [heldBack(say("From the foreground.")), heldBack(say("From the background."))];
  const back = new Agent({ name: "back", model: script(quick.step), tools: {} });
  const fore = new Agent({ name: "fore", model: script(slow.step), tools: {} });
  const model = script(
    call("task", { agent: "back", prompt: "b", background: true }, "call_0"),
    call("task", { agent: "fore", prompt: "f" }, "call_0"),
    say("Done."),
  );
  const subagentBackground = { wake: false };
  const agent = new Agent({ name: "dev", model, subagents: [back, fore], subagentBackground });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const turn = h.sendMessage({ content: "go" });
  await slow.asked;
  const ended = next(h, "background_settled");
  quick.open();
  await ended;
  slow.open();
  assert.equal((await turn).reason, "complete");
  assert.match(resultsOf(h.getDisplayState()).at(-1)!, /From the foreground/);
  await h.close();
});
