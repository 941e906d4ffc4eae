import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import xterm from "@xterm/headless";
import { text } from "../../src/terminal/line.ts";
import { hostile } from "./hostile.ts";

/** The effects on a terminal that text must not have. */
async function effectsOf(written: string): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: 2_000, rows: 6, allowProposedApi: true, logLevel: "off" });
  const effects: string[] = [];
  terminal.onTitleChange(() => effects.push("title"));
  terminal.onBell(() => effects.push("bell"));
  terminal.onData((data) => effects.push(`answer ${JSON.stringify(data)}`));
  terminal.parser.registerOscHandler(52, () => Boolean(effects.push("clipboard")));
  const write = (data: string) => new Promise<void>((done) => terminal.write(data, done));
  await write("one\r\ntwo\r\nthree");
  const before = terminal.buffer.active.cursorX;
  const modes = JSON.stringify(terminal.modes);
  await write(written);
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, y) => active.getLine(y)!.translateToString(true));
  if (JSON.stringify(terminal.modes) !== modes) effects.push("modes");
  if (active.type !== "normal") effects.push("alternate screen");
  if (active.cursorY !== 2 || active.cursorX < before) effects.push("cursor");
  if (rows[0] !== "one" || rows[1] !== "two" || !rows[2]!.startsWith("three") || rows[3]) effects.push("other rows");
  terminal.dispose();
  return effects;
}

for (const [name, attack] of Object.entries(hostile)) {
  test(`a text that ${name} is only text`, async () => {
    assert.deepEqual(await effectsOf(text(attack)), []);
    assert.match(text(attack), /x$/);
    assert.deepEqual(await effectsOf(text(attack, { reveal: true })), []);
  });
}

test("the corpus does have these effects when it is written as it is", async () => {
  const effects = await Promise.all(Object.values(hostile).map(effectsOf));
  assert.ok(effects.filter((some) => some.length > 0).length >= 20);
});

test("whatever a text contains, the terminal only moves on", async () => {
  const unit = fc.oneof(fc.constantFrom(...Object.values(hostile)), fc.string({ unit: "binary", maxLength: 8 }));
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { maxLength: 3 }), async (pieces) => {
      const attack = pieces.join("");
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(text(attack) + text(attack, { reveal: true }), /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      assert.deepEqual(await effectsOf(text(attack)), []);
    }),
    { numRuns: 60 },
  );
});

test("a command to be approved shows each character that a reader can't see", () => {
  const cases: [string, string][] = [
    ["npm test", "npm test"],
    ["ls \u202e/ fr- mr", "ls <U+202E>/ fr- mr"],
    ["rm\u200b -rf\u00a0/", "rm<U+200B> -rf<U+00A0>/"],
    ["echo a\r\nb\tc\u001b[2K", "echo a<U+000D><U+000A>b<U+0009>c<U+001B>[2K"],
    ["a\u{e0061}\u3164\u2800\ufeff", "a<U+E0061><U+3164><U+2800><U+FEFF>"],
    ["grep 'größe 漢字 👍'", "grep 'größe 漢字 👍'"],
    ["\ud83d", "<U+D83D>"],
    [`e${"\u0301".repeat(9)}`, `e${"\u0301".repeat(8)}<U+0301>`],
  ];
  for (const [command, shown] of cases) assert.equal(text(command, { reveal: true }), shown);
});

test("text keeps letters, accents and emoji, and is one line", () => {
  for (const kept of ["größe", "e\u0301", "漢字 한글", "👨‍👩‍👧 ❤️ 1️⃣ 🇩🇪", "می‌خواهم", "क्ष"]) assert.equal(text(kept), kept);
  assert.equal(text("a\tb\r\nc"), "a    b c");
});
