import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@cinch/client";
import { say, script } from "@cinch/testkit";
import { serving } from "../../server/test/serving.ts";

test("a message is sent and answered", async () => {
  await using at = await serving({ model: script(say("hello there")) });
  const client = connect({ url: at.url });
  const session = await client.createSession();
  const types: string[] = [];
  session.subscribe(({ type }) => types.push(type));
  const result = await session.sendMessage({ content: "hi" });
  assert.equal(result.reason, "complete");
  console.log(types, session.getDisplayState().messages.length, session.getDisplayState().status);
  await client.close();
});
