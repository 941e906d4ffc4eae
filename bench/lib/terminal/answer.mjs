/**
 * An answer of Markdown and code in which no word occurs twice, so that each of them can be counted on the screen. It has what answers
 * have: headings, paragraphs with bold words and code in them, lists, tables, and code that is highlighted.
 */
const SYLLABLES = "ba ce di fo gu ha ki lo mu na pe ri so tu va we xi yo za qu".split(" ");

/** `markdown` has at least so many characters. */
export function answer(characters, { prefix = "" } = {}) {
  const words = [];
  const word = () => {
    words.push(prefix + spelled(words.length));
    return words.at(-1);
  };
  let markdown = "";
  while (markdown.length < characters) for (const block of BLOCKS) markdown += `${block(word)}\n\n`;
  return { markdown, words };
}

const many = (count, make) => Array.from({ length: count }, make);
const sentence = (word, count) => `${many(count, word).join(" ")}.`;

const BLOCKS = [
  (word) => `## ${word()} ${word()}`,
  (word) => `${sentence(word, 12)} **${word()} ${word()}** ${sentence(word, 9)} \`${word()}\` ${sentence(word, 14)}`,
  (word) => many(4, () => `- ${sentence(word, 9)}`).join("\n"),
  (word) => `\`\`\`ts\n${many(8, () => codeLines(word)).join("\n")}\n\`\`\``,
  (word) => `${sentence(word, 8)} *${word()}* ${sentence(word, 18)}`,
  (word) => `| ${word()} | ${word()} |\n|---|---|\n${many(3, () => `| ${word()} | ${word()} |`).join("\n")}`,
];

const codeLines = (word) =>
  `export function ${word()}(${word()}: string): number {\n  const ${word()} = "${word()}";\n  return 42; // ${word()}\n}`;

/** Numbers in syllables. All have three, so that none is the beginning of another. */
const spelled = (number) => [400, 20, 1].map((unit) => SYLLABLES[Math.floor(number / unit) % 20]).join("");
