/* oxlint-disable no-control-regex -- control characters are what this is about */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { HEAD_BYTES, Output, TAIL_BYTES } from "../../src/outputs/output.ts";
import { Outputs } from "../../src/outputs/outputs.ts";
import { cleanText } from "../../src/outputs/clean-text.ts";
import { folder } from "../shells/shell-support.ts";

const FITS = HEAD_BYTES + TAIL_BYTES;

async function filled(directory: string, chunks: Iterable<Uint8Array | string>): Promise<Output> {
  const output = new Output(new Outputs(directory).newFile("whole.txt"));
  for (const chunk of chunks) await output.sink(Buffer.from(chunk), "stdout");
  await output.close();
  return output;
}

const lines = (count: number): string[] => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`);

describe("the output of a command", () => {
  test("that is short is shown completely, and has no file", async () => {
    using place = folder();
    const output = await filled(join(place.path, "outputs"), ["x".repeat(FITS - 3), "ü\n"]);
    assert.equal(output.textForModel(), `${"x".repeat(FITS - 3)}ü\n`);
    assert.deepEqual([output.bytes, output.path], [FITS, null]);
    assert.throws(() => statSync(join(place.path, "outputs")));
  });

  test("that is too long shows its first and last lines, and the path of the whole", async () => {
    using place = folder();
    const directory = join(place.path, "private", "outputs");
    const all = lines(10_000);
    const output = await filled(directory, all);
    const text = output.textForModel();
    const note = /\n\[(\d+) bytes left out here; the whole output, (\d+) bytes, is in (\S+): .*\]\n/.exec(text)!;
    const [head, tail] = text.split(note[0]);
    assert.equal(output.path, "/.cinch/output/whole.txt");
    assert.deepEqual(note.slice(2), [String(all.join("").length), output.path]);
    assert.equal(head!.length + 1 + tail!.length + Number(note[1]) - 1, all.join("").length);
    assert.ok(all.join("").startsWith(`${head}\n`) && all.join("").endsWith(`\n${tail}`));
    assert.ok(text.length < FITS + 500);
    assert.equal(readFileSync(join(directory, "whole.txt"), "utf8"), all.join(""));
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    assert.equal(statSync(join(directory, "whole.txt")).mode & 0o777, 0o600);
  });

  test("is in the file byte by byte, and memory holds only its beginning and end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.uint8Array({ minLength: 20_000, maxLength: 90_000 })), {
          maxLength: 12,
        }),
        async (chunks) => {
          using place = folder();
          const output = await filled(place.path, chunks);
          const whole = Buffer.concat(chunks);
          assert.equal(output.bytes, whole.length);
          if (whole.length <= FITS) assert.equal(output.textForModel(), cleanText(whole.toString()));
          else assert.deepEqual(readFileSync(join(place.path, "whole.txt")), whole);
        },
      ),
      { numRuns: 25 },
    );
  });

  test("is never cut inside a character", async () => {
    using place = folder();
    for (const [n, character] of ["ü", "€", "😀"].entries()) {
      for (const shift of [0, 1, 2, 3]) {
        const text = "a".repeat(shift) + character.repeat(FITS);
        const output = await filled(join(place.path, `${n}${shift}`), [text]);
        assert.doesNotMatch(output.textForModel(), /\uFFFD/);
      }
    }
  });

  test("keeps control sequences in the file, and has none for the model", async () => {
    using place = folder();
    const red = "\u001b[31mred\u001b[0m\n";
    const short = await filled(join(place.path, "short"), [red]);
    assert.equal(short.textForModel(), "red\n");
    const long = await filled(join(place.path, "long"), [red.repeat(10_000)]);
    assert.equal(readFileSync(join(place.path, "long", "whole.txt"), "utf8"), red.repeat(10_000));
    assert.doesNotMatch(long.textForModel(), /\u001b|31m/);
  });

  test("that can't be saved is reported as such, and the command continues", async () => {
    using place = folder();
    writeFileSync(join(place.path, "file"), "");
    const output = await filled(join(place.path, "file", "outputs"), lines(10_000));
    assert.equal(output.path, null);
    assert.match(output.textForModel(), /the whole output, \d+ bytes, could not be saved: ENOTDIR/);
    assert.match(output.textForModel(), /line 10000\n$/);
  });

  test("does not replace an existing file", async () => {
    using place = folder();
    mkdirSync(join(place.path, "outputs"));
    writeFileSync(join(place.path, "outputs", "whole.txt"), "older");
    const output = await filled(join(place.path, "outputs"), lines(10_000));
    assert.match(output.textForModel(), /could not be saved: EEXIST/);
    assert.equal(readFileSync(join(place.path, "outputs", "whole.txt"), "utf8"), "older");
  });
});

describe("clean text", () => {
  const cases: Record<string, [string, string]> = {
    "has no colours": ["\u001b[1;31mred\u001b[m \u009b32mgreen", "red green"],
    "has no cursor moves, titles or links": [
      "\u001b[2J\u001b[1;1Ha\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\c\u001bM\u001b(B",
      "ablinkc",
    ],
    "shows of a line only what it said last": ["10%\r50%\r100%\ndone\r\n", "100%\ndone\n"],
    "applies backspaces": ["_\bw_\bo_\br_\bd", "word"],
    "has no sequence that was cut off": ["text\u001b[31", "text"],
    "goes on after a title that has no end": ["\u001b]0;title\nnext", "\nnext"],
    "has no other control characters": ["a\u0000b\u0007c\u007fd\u0085e\tf\u202eg", "abcde\tfg"],
    "keeps everything else": ["ü € 😀 [31m ];", "ü € 😀 [31m ];"],
  };
  for (const [what, [text, clean]] of Object.entries(cases)) test(what, () => assert.equal(cleanText(text), clean));

  test("contains no control sequence, whatever the text was", () => {
    const character = fc.oneof(
      fc.constantFrom("\u001b", "[", "]", "\u009b", "m", ";", "\r", "\b", "\u0007"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(character, { maxLength: 20 }), (characters) => {
        assert.doesNotMatch(cleanText(characters.join("")), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});
