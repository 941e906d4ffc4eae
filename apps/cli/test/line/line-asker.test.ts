import assert from "node:assert/strict";
import { test } from "node:test";
import { LineAsker } from "../../src/line/line-asker.ts";
import { LineOutput } from "../../src/line/line-output.ts";
import { LineReader } from "../../src/line/line-reader.ts";
import { TestClock } from "../terminal/headless.ts";

test("a secret is hidden before it is asked for: what is typed right after the question is not shown", async () => {
  const happened: string[] = [];
  let type: (text: string) => void = () => {};
  const clock = new TestClock();
  const input = {
    onText(listener: (text: string) => void) {
      type = listener;
      return () => {};
    },
    onEnd: () => () => {},
    setRaw: (raw: boolean) => void happened.push(raw ? "hidden" : "shown"),
  };
  const sink = { write: (text: string) => void happened.push(text) };
  const output = new LineOutput({ sink, unicode: true, echoes: true });
  const ignore = () => {};
  using reader = new LineReader({ input, clock, on: ignore, onInterrupt: ignore, onEnd: ignore });
  const asker = new LineAsker({ reader: () => reader, output, clock, canHide: true });
  const said = asker.ask({ lines: [], choices: [], typed: { prompt: "Key", hidden: true, step: (typed) => typed } });
  type("sk-1\r");
  assert.equal(await said, "sk-1");
  assert.deepEqual(happened, ["hidden", "Key: ", "shown", "\n"]);
});
