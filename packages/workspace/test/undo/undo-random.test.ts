import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { desk, folder, read, remove, run, write, type Calls } from "./desk.ts";

const name = fc.constantFrom("a", "b", "c/d", "c/e", "c/f/g", "[x] y.txt");
const text = fc.constantFrom("1\n", "2\n", "3", "", "ü\r\n", "\0\u0001");
const quoted = (word: string) => `'${word}'`;

/** The operations of an agent on files in one step. One that fails, such as deleting a missing file, does nothing. */
const step: fc.Arbitrary<Calls[]> = fc.oneof(
  fc.tuple(name, text).map(([path, content]) => [read(path), write(path, content)]),
  name.map((path) => [remove(path)]),
  fc
    .tuple(name, name)
    .map(([from, to]) => [run(`mkdir -p "$(dirname ${quoted(to)})" && mv ${quoted(from)} ${quoted(to)}`)]),
  fc
    .tuple(
      name,
      text.filter((one) => !one.includes("\0")),
    )
    .map(([path, content]) => [
      run(`mkdir -p "$(dirname ${quoted(path)})" && printf %s ${quoted(content)} >> ${quoted(path)}`),
    ]),
  name.map((path) => [run(`rm -rf ${quoted(path.split("/")[0]!)}`)]),
  fc
    .tuple(name, name, text)
    .map(([path, other, content]) => [
      [...write(path, content), ...write(other, content), ...run("sleep 0.01; echo x > z")],
    ]),
);
const turns = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
const story = fc.array(fc.record({ turns, back: fc.nat(), conversation: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
});

test("after any changes of a thread, repeated rewinds restore the files of any moment", async () => {
  const runs = Number(process.env.UNDO_RUNS ?? 12);
  await fc.assert(
    fc.asyncProperty(story, async (chapters) => {
      using root = folder({ a: "old\n", "c/d": "old\n" });
      await using h = await desk({ root: root.path });
      const moments = [{ seq: h.getDisplayState().seq, files: root.all() }];
      for (const { turns: some, back, conversation } of chapters) {
        for (const one of some) {
          await h.turn(...one.flat());
          moments.push({ seq: h.getDisplayState().seq, files: root.all() });
        }
        const at = back % moments.length;
        const { seq, files } = moments[at]!;
        const result = await h.rewind({ toSeq: seq, files: true, conversation });
        assert.deepEqual(root.all(), files, JSON.stringify(result));
        assert.deepEqual(
          result.files.filter(({ outcome }) => /conflict|failed|lost/.test(outcome)),
          [],
        );
        if (conversation) moments.splice(at + 1);
        moments.push({ seq: h.getDisplayState().seq, files });
      }
    }),
    { numRuns: runs },
  );
});
