import type { Part } from "@cinch/core";
import * as fc from "fast-check";
import { call, say, Story, think, type Moment } from "./story.ts";

/** Where a frame is drawn: always at the beginning and at the end. */
export const framesOf = (story: Story, drawn: readonly boolean[]): Moment[] =>
  story.moments.filter((_, at) => at === 0 || at === story.moments.length - 1 || drawn[at % drawn.length]);

/** Every word occurs once in a story, so that it can be counted. */
export class Words {
  #count = 0;
  next(prefix = "w"): string {
    return `${prefix}${++this.#count}x`;
  }
}

export type Shape =
  | { kind: "user"; lines: number }
  | { kind: "note" }
  | {
      kind: "answer";
      parts: ("text" | "code" | "list" | "thought" | "call")[];
      size: number;
      interrupted: boolean;
      order: number;
    };

export const shapes = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("user" as const), lines: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant("note" as const) }),
    fc.record({
      kind: fc.constant("answer" as const),
      parts: fc.array(fc.constantFrom("text", "code", "list", "thought", "call"), { minLength: 1, maxLength: 5 }),
      size: fc.integer({ min: 1, max: 30 }),
      interrupted: fc.boolean(),
      order: fc.integer({ min: 0, max: 5 }),
    }),
  ),
  { minLength: 1, maxLength: 6 },
) as fc.Arbitrary<Shape[]>;

const words = (source: Words, count: number): string => Array.from({ length: count }, () => source.next()).join(" ");

function partOf(kind: string, source: Words): Part {
  switch (kind) {
    case "thought":
      return think(source.next("hidden"));
    case "call": {
      const id = source.next("call");
      return call(id, "read_file", { file_path: source.next("file") });
    }
    case "code":
      return say(`${words(source, 3)}:\n\n\`\`\`ts\nconst ${source.next()} = 1;\n\n${source.next()}();\n\`\`\`\n`);
    case "list":
      return say(`- ${words(source, 2)}\n- ${words(source, 20)}\n\n# ${source.next()}\n`);
    default:
      return say(`${words(source, 20)}\n${words(source, 2)}\n\n${words(source, 5)}`);
  }
}

/** Plays the shapes as one turn each. */
export function play(story: Story, all: readonly Shape[], source = new Words()): Story {
  for (const shape of all) {
    story.begin();
    if (shape.kind === "user") story.user(Array.from({ length: shape.lines }, () => words(source, 15)).join("\n"));
    if (shape.kind === "note") story.note("A note for the model.");
    if (shape.kind === "answer") {
      const { size, interrupted } = shape;
      const parts = shape.parts.map((kind) => partOf(kind, source));
      // Only texts are kept of an interrupted answer.
      const content = interrupted ? parts.filter(({ type }) => type !== "tool-call") : parts;
      if (content.length > 0) story.answer(content, { size, interrupted });
      const calls = content.filter(({ type }) => type === "tool-call");
      for (const one of calls) story.start(one);
      const [from, ...others] = rotated(calls, shape.order);
      for (const one of [...others, ...(from ? [from] : [])]) story.finish(one);
    }
    story.end();
  }
  return story;
}

const rotated = <T>(items: readonly T[], by: number): T[] => {
  const at = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
};

export const drawn = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });

export const wordsIn = (lines: readonly string[]): string[] => lines.join("\n").match(/(?:w|file)\d+x/g) ?? [];

/** What the journal says, as it is to be printed. */
export const recorded = (story: Story): string[] =>
  story.now.display.messages.flatMap(({ content }) =>
    content.map((part) => {
      if (part.type === "text") return part.text;
      return part.type === "tool-call" ? JSON.stringify(part.input) : "";
    }),
  );
