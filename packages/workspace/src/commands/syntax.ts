import { readFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Parser as TreeSitter, TreeCursor } from "web-tree-sitter";

/** A node of the syntax tree of a line, copied out of the memory of the parser. */
export interface Syntax {
  readonly type: string;
  /** Keywords and operators are not named: their type is their text. */
  readonly named: boolean;
  readonly start: number;
  readonly end: number;
  readonly children: readonly Syntax[];
}

/** `undefined`: the text can't be parsed, or that takes too much time or memory. Never throws. */
export type Parse = (text: string) => Syntax | undefined;

/** Longer lines are not parsed. For some inputs the parser's memory grows quadratically, and it does not recover from running out. */
export const MOST_CHARACTERS = 10_000;
const MOST_DEPTH = 100;
const MOST_NODES = 5_000;
/** For inputs that pass the other limits. A usual line takes less than 1 ms. */
const MOST_MS = 50;

let loading: Promise<Parse> | undefined;

/** Loads the parser on the first call. */
export function bashParser(): Promise<Parse> {
  loading ??= load().catch((problem: unknown) => {
    loading = undefined;
    throw problem;
  });
  return loading;
}

async function load(): Promise<Parse> {
  const { Language, Parser } = await import("web-tree-sitter");
  const place = (file: string) => fileURLToPath(import.meta.resolve(file));
  await Parser.init({ locateFile: () => place("web-tree-sitter/web-tree-sitter.wasm") });
  const language = await Language.load(await readFile(place("tree-sitter-bash/tree-sitter-bash.wasm")));
  const parser = new Parser().setLanguage(language);
  return (text) => {
    try {
      return text.length > MOST_CHARACTERS ? undefined : parse(parser, text);
    } catch {
      return undefined;
    }
  };
}

/** CPU time, not wall time: a busy machine must not change the result. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function parse(parser: TreeSitter, text: string): Syntax | undefined {
  const until = usedMs() + MOST_MS;
  const tree = parser.parse(text, null, { progressCallback: () => usedMs() > until });
  if (!tree) {
    parser.reset();
    return undefined;
  }
  try {
    if (tree.rootNode.hasError || tree.rootNode.descendantCount > MOST_NODES) return undefined;
    const cursor = tree.walk();
    try {
      return copy(cursor, 0);
    } finally {
      cursor.delete();
    }
  } finally {
    tree.delete();
  }
}

function copy(cursor: TreeCursor, depth: number): Syntax | undefined {
  if (depth > MOST_DEPTH || cursor.nodeIsMissing) return undefined;
  const { nodeType: type, nodeIsNamed: named, startIndex: start, endIndex: end } = cursor;
  const children: Syntax[] = [];
  if (cursor.gotoFirstChild()) {
    do {
      const child = copy(cursor, depth + 1);
      if (!child) return undefined;
      children.push(child);
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
  }
  return { type, named, start, end, children };
}
