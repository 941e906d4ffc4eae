/** SKILL.md files that can't be used: what is wrong, the text, the line of the problem, and what its message says. */
export interface BrokenSkill {
  what: string;
  text: string;
  line: number;
  says: RegExp;
}

const skill = (...fields: string[]): string => ["---", ...fields, "---", "Do it."].join("\n");
const NAME = "name: broken";
const WHAT = "description: Breaks things. Use it never.";

export const brokenSkills: readonly BrokenSkill[] = [
  { what: "an empty file", text: "", line: 1, says: /must begin with a line "---"/ },
  { what: "no frontmatter", text: "# Broken\nDo it.", line: 1, says: /must begin with a line "---"/ },
  { what: "a line before the frontmatter", text: `\n${skill(NAME, WHAT)}`, line: 1, says: /must begin/ },
  { what: "two dashes", text: `--\n${NAME}\n--`, line: 1, says: /must begin/ },
  {
    what: "a frontmatter without an end",
    text: `---\n${NAME}\n${WHAT}\nDo it: now`,
    line: 4,
    says: /Add a line "---"/,
  },
  { what: "an empty frontmatter", text: "---\n---\nDo it.", line: 1, says: /The name is missing. Add "name: broken"/ },
  { what: "no name", text: skill(WHAT), line: 1, says: /The name is missing/ },
  { what: "no description", text: skill(NAME), line: 1, says: /The description is missing/ },
  { what: "an empty name", text: skill("name:", WHAT), line: 2, says: /The name is empty. Write "name: broken"/ },
  { what: "a name that is null", text: skill("name: ~", WHAT), line: 2, says: /The name is empty/ },
  { what: "an empty description", text: skill(NAME, 'description: "  "'), line: 3, says: /The description is empty/ },
  { what: "capital letters", text: skill("name: Broken", WHAT), line: 2, says: /capital letters. Use small ones/ },
  {
    what: "a space in the name",
    text: skill("name: bro ken", WHAT),
    line: 2,
    says: /small letters, digits and hyphens/,
  },
  { what: "an underscore", text: skill("name: bro_ken", WHAT), line: 2, says: /small letters, digits and hyphens/ },
  {
    what: "a path as the name",
    text: skill("name: ../broken", WHAT),
    line: 2,
    says: /small letters, digits and hyphens/,
  },
  { what: "a hyphen first", text: skill("name: -broken", WHAT), line: 2, says: /begin or end with a hyphen/ },
  { what: "a hyphen last", text: skill("name: broken-", WHAT), line: 2, says: /begin or end with a hyphen/ },
  { what: "two hyphens", text: skill("name: bro--ken", WHAT), line: 2, says: /two hyphens in a row. Use one/ },
  { what: "a long name", text: skill(`name: ${"a".repeat(65)}`, WHAT), line: 2, says: /65 characters, at most 64/ },
  { what: "the name of another folder", text: skill("name: whole", WHAT), line: 2, says: /the folder is "broken"/ },
  {
    what: "a long description",
    text: skill(NAME, "# a comment", `description: ${"a".repeat(1_025)}`),
    line: 4,
    says: /1025 characters, at most 1024 are allowed. Shorten it/,
  },
  {
    what: "a long compatibility",
    text: skill(NAME, WHAT, `compatibility: ${"a".repeat(501)}`),
    line: 4,
    says: /501 characters, at most 500/,
  },
  { what: "an empty compatibility", text: skill(NAME, WHAT, "compatibility:"), line: 4, says: /or remove the field/ },
  { what: "no colon", text: skill(NAME, "description Breaks"), line: 3, says: /is not "key: value"/ },
  { what: "no space after a colon", text: skill("name:broken", WHAT), line: 2, says: /Write "name: …"/ },
  { what: "a tab", text: skill(NAME, WHAT, "metadata:", "\tauthor: me"), line: 5, says: /Use spaces/ },
  { what: "an indented first key", text: skill(`  ${NAME}`, WHAT), line: 2, says: /Indent keys of one level alike/ },
  { what: "a key twice", text: skill(NAME, WHAT, NAME), line: 4, says: /"name" is here twice/ },
  {
    what: "a colon in a text",
    text: skill(NAME, "description: Use when: asked"),
    line: 3,
    says: /Put the text in quotes/,
  },
  {
    what: "an open quote",
    text: skill(NAME, 'description: "Breaks'),
    line: 3,
    says: /quotes of "description" do not close/,
  },
  { what: "an open single quote", text: skill(NAME, "description: 'It's me'"), line: 3, says: /Write ' inside as ''/ },
  {
    what: "a bad escape",
    text: skill(NAME, 'description: "C:\\Users"'),
    line: 3,
    says: /a backslash that means nothing/,
  },
  { what: "an anchor", text: skill(NAME, "description: &a Breaks"), line: 3, says: /begins with "&"/ },
  { what: "a map as a text", text: skill(NAME, "description: {a: b}"), line: 3, says: /begins with "\{"/ },
  { what: "keys as a text", text: skill(NAME, "description:", "  short: Breaks"), line: 4, says: /must be a text/ },
  { what: "a list as a text", text: skill("name:", "  - broken", WHAT), line: 3, says: /"name" must be a text/ },
  {
    what: "text beside a block",
    text: skill(NAME, "description: > Breaks"),
    line: 3,
    says: /on the next line, indented/,
  },
  {
    what: "a shallow line in a block",
    text: skill(NAME, "description: |", "    Breaks", "  things."),
    line: 5,
    says: /indented less than the first/,
  },
  {
    what: "metadata that is a text",
    text: skill(NAME, WHAT, "metadata: me"),
    line: 4,
    says: /must have keys of its own/,
  },
  { what: "metadata that is a list", text: skill(NAME, WHAT, "metadata:", "  - me"), line: 5, says: /not a list/ },
  {
    what: "metadata two levels deep",
    text: skill(NAME, WHAT, "metadata:", "  author:", "    name: me"),
    line: 6,
    says: /"author" must be a text/,
  },
  {
    what: "an open pattern",
    text: skill(NAME, WHAT, "allowed-tools: Bash(git:* Read"),
    line: 4,
    says: /is not a tool/,
  },
  {
    what: "a pattern that is too long",
    text: skill(NAME, WHAT, `allowed-tools: Bash(${"x".repeat(600)})`),
    line: 4,
    says: /has 606 characters, at most 500 are allowed/,
  },
  {
    what: "too many tools",
    text: skill(NAME, WHAT, `allowed-tools: ${Array.from({ length: 101 }, (_, at) => `t${at}`).join(" ")}`),
    line: 4,
    says: /101 tools are listed, at most 100 are allowed/,
  },
  { what: "a key that is too long", text: skill(NAME, WHAT, `${"k".repeat(101)}: x`), line: 4, says: /Shorten it/ },
  {
    what: "a list with holes",
    text: skill(NAME, WHAT, "allowed-tools:", "  -", "  - Read"),
    line: 5,
    says: /"- text"/,
  },
  {
    what: "control characters",
    text: skill(NAME, "description: Breaks\u0007"),
    line: 3,
    says: /Save the file as UTF-8/,
  },
  { what: "another encoding", text: skill(NAME, "description: Br\ufffdaks"), line: 3, says: /not UTF-8/ },
  {
    what: "too many bytes",
    text: `${skill(NAME, WHAT)}${"x".repeat(300_000)}`,
    line: 1,
    says: /at most 262144 are allowed/,
  },
];
