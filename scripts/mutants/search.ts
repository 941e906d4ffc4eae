import { inPackage, type Mutant } from "./mutant.ts";

/** The search of the embedded store. */
export const search: Mutant[] = [
  ...inPackage("packages/sqlite", [
    {
      attacks: "search: events that the index lacks are not found",
      file: "event-search.ts",
      find: "if (accepts(row[0]) && (await this.#matches(row))) yield [row[0]];",
      replace: "",
      tests: ["event-search"],
    },
    {
      attacks: "search: rewound events are found",
      file: "event-search.ts",
      find: "readerOf(key, read) !== undefined",
      replace: "readerOf(key, read) !== null",
      tests: ["conformance"],
    },
    {
      attacks: "search: an event that clones inherit is found in one of them",
      file: "event-search.ts",
      find: "ORDER BY no = journal DESC, no",
      replace: "ORDER BY no DESC",
      tests: ["conformance"],
    },
    {
      attacks: "search: the events of a resource are not in order of time",
      file: "event-search.ts",
      find: "threads.toSorted((a, b) => a.at - b.at)",
      replace: "threads",
      tests: ["conformance"],
    },
    {
      attacks: "search: events are marked as indexed that are not",
      file: "search-index.ts",
      find: "    return batch;",
      replace: "    return { ...batch, done: last };",
      tests: ["event-search"],
    },
    {
      attacks: "search: words of deleted events stay in the index",
      file: "search-index.ts",
      find: "WHERE EXISTS (SELECT 1 FROM events WHERE key = ?1)",
      replace: "",
      tests: ["event-search"],
    },
    {
      attacks: "search: a word is split between two pieces of a text",
      file: "words.ts",
      find: "const end = endOfWord(text, from + PIECE_CHARS);",
      replace: "const end = Math.min(text.length, from + PIECE_CHARS);",
      tests: ["words"],
    },
    {
      attacks: "P11: what an earlier release did not index is not found",
      file: "schema.ts",
      find: "INSERT INTO search (search) VALUES ('delete-all');\n  INSERT OR REPLACE INTO dirty (journal, from_seq) SELECT DISTINCT journal, 1 FROM segments;",
      replace: "",
      tests: ["./test/fixture-search.test.ts"],
    },
  ]),
  ...inPackage("packages/core", [
    {
      attacks: "search: notes of the harness are found",
      file: "ports/event-text.ts",
      find: 'message?.["role"] === "note"',
      replace: 'message?.["role"] === ""',
      tests: ["packages/sqlite/test/conformance.test.ts"],
    },
  ]),
];
