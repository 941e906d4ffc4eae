import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSkill, type AgentSkill } from "@cinch/memory";
import * as fc from "fast-check";

const parsed = (folder: string, ...fields: string[]): AgentSkill => {
  const { skill, problems, warnings } = parseSkill(["---", ...fields, "---", "", "Do it.", ""].join("\n"), { folder });
  assert.deepEqual({ problems, warnings }, { problems: [], warnings: [] });
  return skill!;
};

test("the examples of the Agent Skills standard load", () => {
  const description = "A description of what this skill does and when to use it.";
  assert.deepEqual(parsed("skill-name", "name: skill-name", `description: ${description}`), {
    name: "skill-name",
    description,
    metadata: {},
    instructions: "Do it.",
  });
  const pdf = parsed(
    "pdf-processing",
    "name: pdf-processing",
    "description: Extract text and tables from PDF files, fill forms, merge documents.",
    "license: Apache-2.0",
    "metadata:",
    "  author: example-org",
    '  version: "1.0"',
  );
  assert.deepEqual([pdf.license, pdf.metadata], ["Apache-2.0", { author: "example-org", version: "1.0" }]);
  for (const name of ["pdf-processing", "data-analysis", "code-review"])
    parsed(name, `name: ${name}`, "description: x");
  const about = [
    "license: Proprietary. LICENSE.txt has complete terms",
    "compatibility: Designed for Claude Code (or similar products)",
    "compatibility: Requires git, docker, jq, and access to the internet",
    "compatibility: Requires Python 3.14+ and uv",
    "description: Extract PDF text, fill forms, merge files. Use when handling PDFs.",
    "description: Helps with PDFs.",
    "description: Extracts text and tables from PDF files, fills PDF forms, and merges multiple PDFs. Use when working with PDF documents or when the user mentions PDFs, forms, or document extraction.",
  ];
  for (const line of about) {
    const [key, text] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)];
    const others = key === "description" ? [] : ["description: x"];
    assert.equal(parsed("a", "name: a", ...others, line)[key as "license"], text);
  }
  const tools = ["allowed-tools:", "  - Bash(git:*)", "  - Bash(jq:*)", "  - Read"];
  const inline = "allowed-tools: Bash(git:*) Bash(jq:*) Read";
  assert.deepEqual(
    parsed("a", "name: a", "description: x", ...tools).allowedTools,
    parsed("a", "name: a", "description: x", inline).allowedTools,
  );
});

test("the valid files in the tests of the standard's validator load, and the invalid names in them are refused", () => {
  const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"];
  for (const name of ["my-skill", "技能", "мой-навык", "навык"]) parsed(name, `name: ${name}`, "description: x");
  assert.equal(parsed(composed, `name: ${decomposed}`, "description: x").name, composed);
  parsed("my-skill", "name: my-skill", "description: A test skill", "allowed-tools: [Read, Write, Edit, Bash]");
  for (const name of ["MySkill", "a".repeat(70), "-my-skill", "my--skill", "my_skill", "НАВЫК"])
    assert.equal(parseSkill(`---\nname: ${name}\ndescription: x\n---`, { folder: name }).problems.length, 1, name);
});

test("a description of several lines, as published skills have it, keeps its colons and signs", () => {
  const lines = [
    "Reference for the API: models, `us.*`, [1m].",
    'TRIGGER when: it\'s "named" # really',
    "SKIP {otherwise}.",
  ];
  const { description } = parsed(
    "a",
    "name: a",
    "description: |-",
    ...lines.map((line) => `  ${line}`),
    "license: MIT",
  );
  assert.equal(description, lines.join("\n"));
  const quoted = "Use it for 'Word', .docx. Triggers include: any mention";
  assert.equal(parsed("a", "name: a", `description: "${quoted}"`).description, quoted);
});

test("names that the standard gives as wrong are refused", () => {
  for (const name of ["PDF-Processing", "-pdf", "pdf--processing"])
    assert.equal(parseSkill(`---\nname: ${name}\ndescription: x\n---`, { folder: name }).problems.length, 1, name);
});

test("allowed-tools maps the names of the standard to our tools, and ignores names that it does not know", () => {
  const tools = (value: string) => parsed("a", "name: a", "description: x", `allowed-tools: ${value}`).allowedTools;
  const following = ["execute_output", "execute_input", "execute_stop"].map((toolName) => ({ toolName }));
  assert.deepEqual(tools("Bash(git:*) Bash(jq:*) Read"), [
    { toolName: "execute", match: "git *" },
    ...following,
    { toolName: "execute", match: "jq *" },
    ...following,
    { toolName: "read_file" },
  ]);
  assert.deepEqual(tools("Bash(npm run test:*), Write(docs/**) Edit Grep Glob LS"), [
    { toolName: "execute", match: "npm run test *" },
    ...following,
    { toolName: "write_file", match: "/docs/**" },
    { toolName: "edit_file" },
    { toolName: "grep" },
    { toolName: "glob" },
    { toolName: "ls" },
  ]);
  assert.deepEqual(tools("Bash(*)"), [{ toolName: "execute" }, ...following]);
  assert.deepEqual(
    tools("[Read, grep, deploy_app]"),
    ["read_file", "grep", "deploy_app"].map((toolName) => ({ toolName })),
  );
  const listed = parsed("a", "name: a", "description: x", "allowed-tools:", "- Read", "- 'Grep'").allowedTools;
  assert.deepEqual(listed, [{ toolName: "read_file" }, { toolName: "grep" }]);
  const text = "---\nname: a\ndescription: x\nallowed-tools: WebFetch(domain:x.org) Read\n---";
  const { skill, warnings } = parseSkill(text, { folder: "a" });
  assert.deepEqual(skill!.allowedTools, [{ toolName: "read_file" }]);
  assert.deepEqual(warnings, [
    { line: 4, message: 'allowed-tools: "WebFetch" is not a tool that Cinch knows. It is ignored.' },
  ]);
});

test("texts may be quoted, folded or continued, and comments are left out", () => {
  const description = (...lines: string[]) => parsed("a", "name: a # the name", ...lines).description;
  assert.equal(description('description: "a: \\"b\\" \\u00e9" # c'), 'a: "b" é');
  assert.equal(description("description: 'it''s'"), "it's");
  assert.equal(description("description: a", "  b", "  c # d"), "a b c");
  assert.equal(description("description: >-", "  a", "  b", "", "  c"), "a b\nc");
  assert.equal(description("description: |", "  a", "    b", "# c", "license: MIT"), "a\n  b");
  assert.equal(description('description: "a', '  b"'), "a b");
});

test("a byte order mark and Windows line ends do no harm, and letters of any alphabet may be in a name", () => {
  assert.equal(parseSkill("---\nname: データー\ndescription: x\n---", { folder: "データー" }).skill?.name, "データー");
  const text = "\uFEFF---\r\nname: größe-測試\r\ndescription: x\r\n---\r\nDo it.\r\n";
  assert.equal(parseSkill(text, { folder: "größe-測試" }).skill?.instructions, "Do it.");
});

test("fields that the standard does not have are ignored with a warning, whatever is below them", () => {
  const text = "---\nname: a\ndescription: x\nhooks:\n  - on: [x, {y: z}]\n    run: &b c\n---\nDo it.";
  const { skill, warnings } = parseSkill(text, { folder: "a" });
  assert.equal(skill?.name, "a");
  assert.deepEqual(
    warnings.map(({ line, message }) => [line, /"hooks" is not a field/.test(message)]),
    [[4, true]],
  );
});

test("any text is a skill, or has a problem in one of its lines", () => {
  const words = ["---", "name", "a", "description", "metadata", "allowed-tools", "é", "~"];
  const signs = [..."-:|>\"'#\\[](),{& \t\n\uFEFF\0\ud800", ": ", "- ", " #", "  ", "\n", "\n", "\r\n"];
  const piece = fc.constantFrom(...words, ...signs);
  const pieces = fc.array(piece, { maxLength: 60 }).map((all) => all.join(""));
  const text = fc.oneof(
    pieces,
    pieces.map((middle) => `---\nname: a\n${middle}\n---\nDo it.`),
  );
  fc.assert(
    fc.property(text, (given) => {
      const { skill, problems } = parseSkill(given, { folder: "a" });
      const lines = given.split("\n").length;
      assert.equal(skill === null, problems.length > 0);
      for (const { line, message } of problems) assert.ok(line >= 1 && line <= lines && message !== "", message);
    }),
    { numRuns: 2_000 },
  );
});

test("a hostile file takes no longer than others", () => {
  const long = (text: string) => text.repeat(250_000 / text.length);
  const values = [
    "a" + long(" ") + "b",
    long(" #"),
    long("'"),
    long('"'),
    long("\\"),
    "[" + long(",") + "]",
    long("("),
    long("a("),
  ];
  const hostile = [
    ...values.flatMap((value) => ["description", "allowed-tools"].map((key) => `name: a\n${key}: ${value}`)),
    Array.from({ length: 40_000 }, (_, at) => `k${at}:`).join("\n"),
    `name: a\ndescription: >\n${long("\n  a")}`,
    `name: a\nmetadata:\n${long("  a\n")}`,
    long("\n"),
    long("- "),
  ];
  const from = performance.now();
  for (const fields of hostile) parseSkill(`---\n${fields}\n---`, { folder: "a" });
  assert.ok(performance.now() - from < 30_000);
});
