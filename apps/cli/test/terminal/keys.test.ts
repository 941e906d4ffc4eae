import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { KeyDecoder, type KeyEvent } from "../../src/terminal/keys.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8");
const shown = (event: KeyEvent): string => {
  if (event.type === "key") return event.key;
  if (event.type === "text") return `'${event.text}'`;
  if (event.type === "paste") return `paste ${JSON.stringify(event.text)}`;
  return event.type === "focus" ? `focus ${event.focused}` : event.type;
};
/** All keys of an input that ends with silence. */
function decode(...pieces: Uint8Array[]): string[] {
  const decoder = new KeyDecoder();
  const events = pieces.flatMap((piece) => decoder.push(piece));
  return [...events, ...decoder.timeout()].map(shown);
}

const table: [string, string[]][] = [
  ["hé漢👍", ["'h'", "'é'", "'漢'", "'👍'"]],
  ["\r\n\t\u007f\b", ["enter", "ctrl-j", "tab", "backspace", "backspace"]],
  ["\u0001\u0003\u001a\u001f\u0000", ["ctrl-a", "ctrl-c", "ctrl-z", "ctrl-_", "ctrl-space"]],
  ["\u001b", ["escape"]],
  ["\u001b\u001b", ["escape", "escape"]],
  ["\u001b[", ["alt-["]],
  ["\u001bO", ["alt-shift-o"]],
  ["\u001bb\u001bB\u001bé\u001b ", ["alt-b", "alt-shift-b", "alt-é", "alt-space"]],
  ["\u001b\r\u001b\u007f\u001b\u0001", ["alt-enter", "alt-backspace", "ctrl-alt-a"]],
  ["\u001b[A\u001bOB\u001b[H\u001b[4~\u001b[3~", ["up", "down", "home", "end", "delete"]],
  ["\u001b[1;3A\u001b[1;5C\u001b[1;2D\u001b[3;5~", ["alt-up", "ctrl-right", "shift-left", "ctrl-delete"]],
  ["\u001b\u001b[A\u001b\u001bOA", ["alt-up", "alt-up"]],
  ["\u001b[Z\u001b[1;3Z", ["shift-tab", "alt-shift-tab"]],
  ["\u001b[a\u001bOd\u001b[7^\u001b[8@", ["shift-up", "ctrl-left", "ctrl-home", "ctrl-shift-end"]],
  ["\u001bOP\u001b[15~\u001b[[A", ["f1", "f5"]],
  // kitty
  ["\u001b[13;2u\u001b[13;3u\u001b[27u\u001b[9;2u", ["shift-enter", "alt-enter", "escape", "shift-tab"]],
  ["\u001b[97;5u\u001b[99;5u\u001b[106;5u", ["ctrl-a", "ctrl-c", "ctrl-j"]],
  ["\u001b[105;5u\u001b[109;5u\u001b[91;5u\u001b[104;5u", ["tab", "enter", "escape", "backspace"]],
  ["\u001b[1089::99;5u", ["ctrl-c"]],
  ["\u001b[45:95;6u\u001b[45;6u\u001b[47;5u", ["ctrl-_", "ctrl-_", "ctrl-_"]],
  ["\u001b[97:65;4u\u001b[97;4u\u001b[97;6u", ["alt-shift-a", "alt-shift-a", "ctrl-shift-a"]],
  ["\u001b[97;2u\u001b[32;2u\u001b[127;2u", ["'A'", "' '", "backspace"]],
  ["\u001b[97;5:3u\u001b[97;5:2u", ["ctrl-a"]],
  ["\u001b[57414u\u001b[57400u\u001b[57419u\u001b[57441;2u\u001b[99;9u", ["enter", "'1'", "up"]],
  ["\u001b[97;69u", ["ctrl-a"]],
  // modifyOtherKeys
  ["\u001b[27;2;13~\u001b[27;5;99~\u001b[27;6;95~\u001b[27;3;98~", ["shift-enter", "ctrl-c", "ctrl-_", "alt-b"]],
  ["\u001b[27;2;65~", ["'A'"]],
  // paste
  ["\u001b[200~a\r\nb\rc\u001b[A\u001b[201~x", ['paste "a\\nb\\nc\\u001b[A"', "'x'"]],
  ["\u001b[200~no end mark", ['paste "no end mark"']],
  ["\u001b[200~cut\u001b[20", ['paste "cut"']],
  ["\u001b[200~\u001b[201~\u001b[201~y", ['paste ""', "'y'"]],
  ["\u001b\u001b[200~p\u001b[201~", ["escape", 'paste "p"']],
  // the terminal
  ["\u001b[I\u001b[O", ["focus true", "focus false"]],
  ["\u001b[?5u\u001b[?62;22c", ["kitty", "attributes"]],
  ["\u001b[<0;3;4M\u001b[>1;2;3c\u001b[24;80Rx", ["'x'"]],
  ["\u001b[1;\u001b[A\u0085é", ["up", "'é'"]],
];

test("keys are recognised in each form that terminals send", () => {
  for (const [input, keys] of table) assert.deepEqual(decode(bytes(input)), keys, JSON.stringify(input));
});

test("however the bytes are split, the keys are the same", () => {
  const input = fc.oneof(
    fc.constantFrom(...table.map(([text]) => text)),
    fc.string({ unit: fc.constantFrom("\u001b", "[", "O", "1", ";", ":", "~", "u", "A", "é", "👍", "\u001b[200~") }),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(
      fc.array(input, { maxLength: 12, size: "max" }),
      fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
      (texts, sizes) => {
        const whole = bytes(texts.join(""));
        const pieces: Uint8Array[] = [];
        for (let at = 0; at < whole.length;) {
          const { value: size } = sizes.next() as { value: number };
          pieces.push(whole.subarray(at, at + size));
          at += size;
        }
        assert.deepEqual(decode(...pieces), decode(whole));
      },
    ),
    { numRuns: 500 },
  );
});

test("bytes that are no text in any encoding never throw, and what is typed after them arrives", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (noise) => {
      const decoder = new KeyDecoder();
      decoder.push(noise);
      decoder.timeout();
      assert.deepEqual(
        [...decoder.push(bytes("~~~\u001b[201~~~zz")), ...decoder.push(bytes("z"))].map(shown).at(-1),
        "'z'",
      );
    }),
  );
});

test("a lone Esc waits 50 ms for the rest, a sequence that has begun waits without limit, a paste for 1 s", () => {
  const decoder = new KeyDecoder();
  assert.equal(decoder.timeoutMs, null);
  assert.deepEqual(decoder.push(bytes("\u001b")), []);
  assert.equal(decoder.timeoutMs, 50);
  assert.deepEqual(decoder.push(bytes("[1;")), []);
  assert.equal(decoder.timeoutMs, null);
  assert.deepEqual(decoder.timeout(), []);
  assert.deepEqual(decoder.push(bytes("5A")).map(shown), ["ctrl-up"]);
  decoder.push(bytes("\u001b[200~slow"));
  assert.equal(decoder.timeoutMs, 1_000);
  assert.deepEqual(decoder.timeout().map(shown), ['paste "slow"']);
  assert.equal(decoder.timeoutMs, null);
});

test("a paste of 5 MB in small pieces is one event", () => {
  const decoder = new KeyDecoder();
  decoder.push(bytes("\u001b[200~"));
  const piece = bytes("x".repeat(1_000));
  for (let at = 0; at < 5_000; at++) assert.deepEqual(decoder.push(piece), []);
  const [event] = decoder.push(bytes("\u001b[201~"));
  assert.equal(event?.type === "paste" && event.text.length, 5_000_000);
});

test("in a locale of one byte a letter, each byte is a letter", () => {
  const decoder = new KeyDecoder({ encoding: "latin1" });
  assert.deepEqual(decoder.push(Buffer.from([0xe9, 0x61])).map(shown), ["'é'", "'a'"]);
});

test("what a terminal sends as UTF-8 in another locale is not split into letters", () => {
  const decoder = new KeyDecoder({ encoding: "latin1" });
  const typed = [..."hä日👍"].flatMap((character) => decoder.push(bytes(character)).map(shown));
  assert.deepEqual(typed, ["'h'", "'ä'", "'日'", "'👍'"]);
  const pasted = [...bytes("\u001b[200~ä日👍\u001b[201~")].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
  assert.deepEqual(pasted, [{ type: "paste", text: "ä日👍" }]);
});

test("a letter that may begin a character of UTF-8 is taken after a moment, also at the end of a paste that was cut", () => {
  const decoder = new KeyDecoder({ encoding: "latin1" });
  assert.deepEqual(decoder.push(Uint8Array.of(0xe9)), []);
  assert.equal(decoder.timeoutMs, 50);
  assert.deepEqual(decoder.timeout().map(shown), ["'é'"]);
  assert.equal(decoder.timeoutMs, null);
  decoder.push(Buffer.concat([bytes("\u001b[200~caf"), Uint8Array.of(0xe9)]));
  assert.deepEqual(decoder.timeout(), [{ type: "paste", text: "café" }]);
});
