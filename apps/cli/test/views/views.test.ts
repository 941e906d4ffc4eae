import assert from "node:assert/strict";
import { test } from "node:test";
import { widthOf } from "../../src/terminal/width.ts";
import { assertGolden } from "../text/golden.ts";
import { plainText, styledText } from "../text/shown.ts";
import { scenes } from "./scenes.ts";
import { contextOf, writtenText } from "./shown-views.ts";

const NOW = 1_000_000;
const linesOf = (width: number) =>
  Object.entries(scenes).map(([name, scene]) => ({ name, lines: scene(contextOf(width, NOW)) }));

for (const width of [80, 40, 20]) {
  test(`every view has its golden text in ${width} columns`, () => {
    assertGolden(
      `views.${width}.txt`,
      linesOf(width).flatMap(({ name, lines }) => [`# ${name}`, ...lines.map(plainText), ""]),
    );
  });

  test(`in ${width} columns every row fits, but one that the terminal breaks`, () => {
    for (const { name, lines } of linesOf(width))
      for (const line of lines.filter(({ wrap }) => wrap !== "terminal"))
        assert.ok(widthOf(plainText(line)) < width, `${name}: ${plainText(line)}`);
  });
}

test("every view has its golden styles", () => {
  assertGolden(
    "views.styled.txt",
    linesOf(80).flatMap(({ name, lines }) => [`# ${name}`, ...lines.map(styledText), ""]),
  );
});

test("without UTF-8 and without colours every view is ASCII, in the same columns", () => {
  const features = { colors: false, unicode: false };
  const shown = linesOf(80).flatMap(({ name, lines }) => [
    `# ${name}`,
    ...lines.map((line) => writtenText(line, features)),
    "",
  ]);
  assertGolden("views.ascii.txt", shown);
});
