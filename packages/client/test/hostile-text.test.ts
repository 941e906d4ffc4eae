import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type Client } from "@cinch/client";
import { defineTool, type HarnessDisplayState } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { briefDisplay } from "../../server/src/brief/brief-display.ts";
import { serving } from "../../server/test/serving.ts";
import { faulty, isStream } from "./faults.ts";

/** Characters at which some parser of lines, of streams or of JSON ends a line or a text. */
const HOSTILE = [
  "\u2028",
  "\u2029",
  "\u0085",
  "\r",
  "\n",
  "\r\n",
  "\n\n",
  "\n\ndata: {}\n\n",
  "\0",
  "\v\f",
  "\u001c\u001e",
  "\ufeff",
  "\ud800",
  "\udc00",
];
const TEXT = HOSTILE.map((text, n) => `${n}${text}`).join("");

const plain = (display: HarnessDisplayState): unknown => JSON.parse(JSON.stringify(display));
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const echo = defineTool({
  description: "Echoes",
  input: z.object({ text: z.string() }),
  execute: ({ text }, { files }) => {
    files.print(text, "stdout");
    return { content: text.repeat(200), details: { text } };
  },
});

const polling = faulty(async ({ init, pass }) => {
  if (!isStream(init)) return pass();
  const error = { code: "TOO_MANY", message: "Too many streams." };
  return Response.json({ error }, { status: 429, headers: { "cinch-protocol": "1" } });
});

for (const [name, fetch] of [
  ["a stream", undefined],
  ["requests that wait", polling.fetch],
] as const)
  test(`by ${name}, characters that end a line elsewhere arrive as they were written`, async () => {
    const title = TEXT.replaceAll("\ud800", "").replaceAll("\udc00", "");
    const model = script(call("echo", { text: TEXT }), say(TEXT));
    await using at = await serving({ model, tools: { echo } });
    const [talking, watching]: Client[] = [connect({ url: at.url }), connect({ url: at.url, ...(fetch && { fetch }) })];
    const { id: threadId } = await at.harness.createThread({ title });
    const there = await at.harness.createSession({ threadId });
    await watching!.switchThread({ threadId });
    await talking!.switchThread({ threadId });
    await talking!.sendMessage({ content: title });
    await until(() => watching!.getDisplayState().seq >= there.getDisplayState().seq);
    assert.deepEqual(plain(watching!.getDisplayState()), plain(briefDisplay(there.getDisplayState())));
    assert.match(JSON.stringify(watching!.getDisplayState().messages.at(-1)), /\u2028.*/s);
    const late = await watching!.createSession({ threadId });
    assert.deepEqual(plain(late.getDisplayState()), plain(briefDisplay(there.getDisplayState())));
    await Promise.all([talking!.close(), watching!.close()]);
  });
