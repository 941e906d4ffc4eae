import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ThreadContext } from "../../src/app/open-answer.ts";
import { ThreadPrinter } from "../../src/app/thread-printer.ts";
import { widthOf } from "../../src/terminal/width.ts";
import { activityLines } from "../../src/views/activity.ts";
import { plainText } from "../text/shown.ts";
import { drawn, framesOf, play, recorded, shapes, Words, wordsIn } from "./random-story.ts";
import { call, say, Story, type Moment } from "./story.ts";

const contextAt = ({ activity }: Moment, width = 60): ThreadContext => ({
  width,
  rows: 24,
  now: 0,
  unicode: true,
  activity,
});

interface ShownFrame {
  print: string[];
  live: string[];
}

/** Shows these moments of a story, one in each frame. */
function shown(moments: readonly Moment[], { printer = new ThreadPrinter(), width = 60 } = {}): ShownFrame[] {
  return moments.map((moment) => {
    const { print, live } = printer.next(moment.display, contextAt(moment, width));
    return { print: print.map(plainText), live: live.map(plainText) };
  });
}

const printedIn = (frames: readonly ShownFrame[]): string[] => frames.flatMap(({ print }) => print);

test("however a journal is cut into frames, the same lines are printed", () => {
  fc.assert(
    fc.property(shapes, drawn, (all, places) => {
      const story = play(new Story(), all);
      assert.deepEqual(printedIn(shown(framesOf(story, places))), printedIn(shown(story.moments)));
    }),
  );
});

test("a note about how the thread begins is not printed, one about a change is", () => {
  const story = new Story();
  story
    .user("hi")
    .note('You are in mode "Build" now.')
    .answer([say("Hello.")]);
  story
    .user("plan")
    .note('You are in mode "Plan" now.')
    .answer([say("A plan.")]);
  const notes = (frames: ShownFrame[]) => printedIn(frames).filter((row) => row.includes("note:"));
  assert.deepEqual(notes(shown(story.moments)), ['▸ note: You are in mode "Plan" now.']);
  assert.deepEqual(notes(shown([story.now])), ['▸ note: You are in mode "Plan" now.']);
});

test("each word is printed once, in the order of the journal, and is not live again", () => {
  fc.assert(
    fc.property(shapes, drawn, (all, places) => {
      const story = play(new Story(), all);
      const frames = shown(framesOf(story, places));
      const found = wordsIn(printedIn(frames));
      assert.deepEqual(found, wordsIn(recorded(story)));
      const printed = new Set<string>();
      for (const { print, live } of frames) {
        for (const word of wordsIn(print)) printed.add(word);
        assert.deepEqual(
          wordsIn(live).filter((word) => printed.has(word)),
          [],
        );
      }
      assert.deepEqual(frames.at(-1)!.live, []);
    }),
  );
});

test("no row but one that a terminal breaks takes more columns than there are, and the last column stays empty", () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 1, max: 90 }), (all, width) => {
      // In fewer columns than a margin and a word need, the terminal breaks the printed lines.
      const isNarrow = width < 20;
      const printer = new ThreadPrinter();
      for (const moment of play(new Story(), all).moments) {
        const { print, live } = printer.next(moment.display, contextAt(moment, width));
        const rows = [...live, ...print.filter(({ wrap }) => !isNarrow && wrap !== "terminal")];
        for (const row of rows) assert.ok(widthOf(plainText(row)) <= Math.max(1, width - 1), plainText(row));
      }
    }),
  );
});

test("an answer that is discarded is explained if a part of it was printed, and changes nothing else", () => {
  fc.assert(
    fc.property(shapes, shapes, drawn, (before, after, places) => {
      const told = (isDiscarded: boolean): Story => {
        const source = new Words();
        const story = play(new Story(), before, source).begin();
        const lost = Array.from({ length: 3 }, () => Array.from({ length: 8 }, () => source.next("lost")).join(" "));
        if (isDiscarded) story.answer([say(lost.join("\n\n"))], { discarded: true });
        return play(story, after, source);
      };
      const story = told(true);
      const lines = printedIn(shown(framesOf(story, places)));
      const again = lines.findIndex((line) => line.includes("begins again"));
      const lost = lines.findLastIndex((line) => line.includes("lost"));
      assert.equal(again > lost, lost !== -1);
      assert.deepEqual(wordsIn(lines), wordsIn(printedIn(shown(told(false).moments))));
    }),
  );
});

const RULE = `── Fix the sum ${"─".repeat(44)}`;

/** The lines that are printed in one frame of a printer that has shown what came before. */
const next = (printer: ThreadPrinter, story: Story, width = 60) => shown([story.now], { printer, width })[0]!;

/** A printer that has shown an empty thread. */
function followed(story: Story): ThreadPrinter {
  const printer = new ThreadPrinter();
  shown(story.moments, { printer });
  return printer;
}

test("a block is printed when the next begins, code line by line; what streams is live", () => {
  const story = new Story();
  const printer = followed(story);
  const messageId = "m";
  const more = (delta: string) => {
    const event = { type: "message_update", messageId, role: "assistant", index: 0, part: "text", delta };
    return next(printer, story.live(event as Parameters<Story["live"]>[0]));
  };
  story.begin().live({ type: "message_start", messageId, role: "assistant" });
  assert.deepEqual(more("The loop starts at 1"), { print: [], live: ["The loop starts at 1"] });
  assert.deepEqual(more(":\n\n```ts\nfor (;;) {"), { print: ["The loop starts at 1:"], live: ["", "for (;;) {"] });
  assert.deepEqual(more("\n  sum"), { print: ["", "for (;;) {"], live: ["  sum"] });
});

test("a call is printed when it and all before it have ended", () => {
  const [first, second] = [
    call("a", "read_file", { file_path: "a.ts" }),
    call("b", "execute", { command: "npm test" }),
  ];
  const story = new Story()
    .begin()
    .answer([say("I look."), first, second])
    .start(first)
    .start(second);
  const printer = followed(story);
  story.finish(second, { content: "Exit code 0 after 2.0 s.", details: { exit: { code: 0 } } });
  const waits = next(printer, story);
  assert.deepEqual(waits.print, []);
  assert.deepEqual(
    waits.live.map((line) => line.slice(0, 18).trim()),
    ["⠋ read_file a.ts ·", "✓ execute npm test"],
  );
  const { print, live } = next(printer, story.finish(first));
  assert.deepEqual(
    print.map((line) => line.slice(0, 18).trim()),
    ["✓ read_file a.ts", "✓ execute npm test"],
  );
  assert.deepEqual(live, []);
});

test("a text after a call waits for the call, however early it streams", () => {
  const search = call("a", "read_file", { file_path: "a.ts" });
  const story = new Story().begin().answer([say("Before.\n\n"), search, say("After.\n\nAnd more.\n\n")]);
  const printer = new ThreadPrinter();
  assert.deepEqual(printedIn(shown(story.moments, { printer })), ["Before."]);
  const { print } = next(printer, story.start(search).finish(search));
  assert.deepEqual(print.slice(1), ["After.", "", "And more."]);
});

test("an interrupted answer says so", () => {
  const story = new Story().begin().answer([say("The loop st")], { interrupted: true });
  assert.deepEqual(printedIn(shown(story.moments)), ["The loop st", "✗ interrupted: the answer ends here"]);
});

test("the time of a thought is that of its events, not of the frames", () => {
  const story = new Story().begin();
  const update = (index: number, part: string) =>
    story.live({ type: "message_update", messageId: "m", role: "assistant", index, part, delta: "x" } as Parameters<
      Story["live"]
    >[0]);
  story.live({ type: "message_start", messageId: "m", role: "assistant" });
  update(0, "reasoning");
  story.wait(4_000);
  update(1, "text");
  assert.deepEqual(printedIn(shown([story.moments[0]!, story.now])), ["▸ thought 4 s"]);
});

test("the input of another terminal appears like one's own, and what was missed while closed appears after a rule", () => {
  const story = new Story()
    .begin()
    .user("fix it")
    .answer([say("Done.")])
    .end();
  assert.deepEqual(printedIn(shown([story.now])), [RULE, "You  fix it", "Done."]);
});

test("an entered thread prints about two screens, and counts what is older", () => {
  const story = new Story().begin();
  for (let at = 0; at < 120; at++) story.user(`question ${at}`);
  const [, older, ...lines] = printedIn(shown([story.now]));
  assert.equal(older, "… 96 earlier messages: Ctrl-T shows all");
  assert.equal(lines.length, 47);
  for (let at = 0; at < 120; at++) story.user(`more ${at}`);
  assert.match(printedIn(shown([story.now]))[1]!, /^… more than \d+ earlier messages/);
});

test("of a single long message, an entered thread prints the end", () => {
  const story = new Story().begin().answer([say(Array.from({ length: 300 }, (_, at) => `${at}\n`).join("\n"))]);
  const [, cut, ...lines] = printedIn(shown([story.now]));
  assert.match(cut!, /^… \d+ earlier lines: Ctrl-T shows all$/);
  assert.equal(lines.length, 47);
  assert.equal(lines.at(-1), "299");
});

test("a rewind by any terminal, and another thread, print a rule and the newest messages; once", () => {
  const story = new Story()
    .begin()
    .user("one")
    .answer([say("First.")])
    .end();
  const kept = story.now;
  story
    .begin()
    .user("two")
    .answer([say("Second.")])
    .end();
  const printer = followed(story);
  const rewound: Moment = { ...kept, display: { ...kept.display, seq: story.now.display.seq + 1 } };
  const expected = [RULE, "You  one", "First."];
  assert.deepEqual(printedIn(shown([rewound], { printer })), expected);
  printer.restart(rewound.display);
  assert.deepEqual(printedIn(shown([rewound], { printer })), []);
  const other = new Story("t2", "Other").begin().user("three");
  assert.deepEqual(printedIn(shown([other.now], { printer }))[0]!.slice(0, 9), "── Other ");
});

test("more messages than a display has since the last frame begin anew: none is missing without a word", () => {
  const story = new Story().begin().user("one");
  const printer = followed(story);
  for (let at = 0; at < 250; at++) story.user(`question ${at}`);
  assert.match(printedIn(shown([story.now], { printer }))[1]!, /^… more than \d+ earlier messages/);
});

test("after a resize, printed lines stay, and later ones take the new width", () => {
  const text = "one two three four five six seven eight nine ten";
  const story = new Story().begin();
  const printer = followed(story);
  story.answer([say(`${text}\n\n`)]);
  assert.deepEqual(next(printer, story, 60).print, [text]);
  assert.deepEqual(next(printer, story, 20).print, []);
  story.answer([say(text)]);
  assert.deepEqual(next(printer, story, 20).print, ["one two three four", "five six seven", "eight nine ten"]);
});

test("a call that the user has edited is printed as it ran", () => {
  const one = call("a", "execute", { command: "rm -rf /" });
  const story = new Story().begin().answer([one]);
  const edit = { toolCallId: "a", toolName: "execute", decision: "edit" as const, digest: "d" };
  story.durable({ type: "tool_approval_resolved", turnId: "turn", ...edit, args: { command: "rm -rf build" } });
  const result = { content: "Exit code 0 after 0.1 s.", details: { exit: { code: 0 } } };
  story.start(one).finish(one, result, { args: { command: "rm -rf build" } });
  assert.match(printedIn(shown([story.moments[0]!, story.now]))[0]!, /^✓ execute rm -rf build /);
  // A display that is opened later has only the messages.
  assert.match(printedIn(shown([story.now])).join("\n"), /^✓ execute rm -rf build /m);
});

test("a call that the user has declined says so, also with a reason", () => {
  const one = call("a", "execute", { command: "rm -rf /" });
  const story = new Story().begin().answer([one]);
  const decline = { toolCallId: "a", toolName: "execute", decision: "decline" as const, digest: "d", message: "No." };
  story.durable({ type: "tool_approval_resolved", turnId: "turn", ...decline });
  story.finish(one, { content: "No.", details: { code: "DECLINED" } }, { isError: true, durationMs: 0 });
  assert.deepEqual(printedIn(shown([story.moments[0]!, story.now])), ["✗ execute rm -rf /  declined", "  No."]);
  assert.match(printedIn(shown([story.now])).join("\n"), /✗ execute rm -rf \/  declined/);
});

test("nothing turns in a parked thread, where no process is at work", () => {
  const one = call("a", "execute", { command: "npm test" });
  const story = new Story().begin().answer([one]).start(one);
  const parked = { code: "PARKED", message: "Three drivers died.", retryable: false, parked: true };
  story.durable({ type: "error", turnId: "turn", ...parked });
  assert.deepEqual(shown([story.moments[0]!, story.now]).at(-1)!.live, ["… execute npm test"]);
  assert.deepEqual(activityLines(story.now.display, story.now.activity, contextAt(story.now)), []);
});

test("with `wrap: terminal` a paragraph is printed as one line", () => {
  const text = "one two three four five six seven eight nine ten ".repeat(3).trim();
  const story = new Story()
    .begin()
    .user(text)
    .answer([say(text)]);
  const { print } = new ThreadPrinter().next(story.now.display, { ...contextAt(story.now), wrap: "terminal" });
  assert.deepEqual(print.slice(1).map(plainText), [`You  ${text}`, text]);
});
