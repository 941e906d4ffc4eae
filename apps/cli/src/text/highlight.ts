import { createRequire } from "node:module";
import type { HLJSApi, LanguageFn } from "highlight.js";
import { text, type Span, type Style } from "../terminal/line.ts";

/** Highlighting takes about 15 µs a line; a minified one takes much longer and gains nothing. */
const MAX_LINE = 2_000;
/** How far back a line's meaning may depend on others, such as the beginning of a comment. */
const MAX_CONTEXT_LINES = 60;
const MAX_CONTEXT_CHARS = 8_000;

/** Common names of languages that `highlight.js` has under another name. */
const ALIASES: Record<string, string> = {
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  cts: "typescript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsonc: "json",
  json5: "json",
  sh: "bash",
  zsh: "bash",
  console: "shell",
  py: "python",
  rb: "ruby",
  rs: "rust",
  golang: "go",
  yml: "yaml",
  md: "markdown",
  html: "xml",
  svg: "xml",
  vue: "xml",
  "c++": "cpp",
  cc: "cpp",
  hpp: "cpp",
  h: "c",
  cs: "csharp",
  "c#": "csharp",
  kt: "kotlin",
  ps1: "powershell",
  toml: "ini",
  docker: "dockerfile",
  make: "makefile",
  proto: "protobuf",
  hs: "haskell",
  ex: "elixir",
  pl: "perl",
  patch: "diff",
};

/** Only colours that can be read on a light and on a dark background. */
const STYLES: Record<string, Style> = {
  keyword: { color: "magenta" },
  "selector-tag": { color: "magenta" },
  tag: { color: "magenta" },
  name: { color: "magenta" },
  string: { color: "green" },
  regexp: { color: "green" },
  addition: { color: "green" },
  deletion: { color: "red" },
  number: { color: "cyan" },
  literal: { color: "cyan" },
  symbol: { color: "cyan" },
  type: { color: "cyan" },
  built_in: { color: "cyan" },
  title: { color: "blue" },
  attr: { color: "blue" },
  attribute: { color: "blue" },
  section: { color: "blue", bold: true },
  property: { color: "blue" },
  comment: { dim: true },
  quote: { dim: true },
  doctag: { dim: true },
  meta: { dim: true },
  subst: {},
  strong: { bold: true },
  emphasis: { italic: true },
};

const load = createRequire(import.meta.url);
let core: HLJSApi | undefined;

/** The name under which `highlight.js` knows a language, after loading it. `undefined` if it has none. */
function loaded(language: string): string | undefined {
  const lower = language.toLowerCase();
  const name = Object.hasOwn(ALIASES, lower) ? ALIASES[lower]! : lower;
  // The name comes from the model and becomes a part of a path.
  if (!/^[a-z][a-z0-9-]*$/.test(name)) return undefined;
  core ??= load("highlight.js/lib/core") as HLJSApi;
  if (core.getLanguage(name)) return name;
  try {
    core.registerLanguage(name, load(`highlight.js/lib/languages/${name}`) as LanguageFn);
    return name;
  } catch {
    return undefined;
  }
}

/** Highlights code line by line. A line is highlighted together with those before it on which its meaning depends. */
export class Highlighter {
  readonly #language: string | undefined;
  #context: string[] = [];
  #contextChars = 0;

  /** `info`: what follows the fence of a code block. Code in an unknown language has no colours. */
  constructor(info: string) {
    this.#language = loaded(/^[^\s{,:]*/.exec(info)![0]);
  }

  line(code: string): Span[] {
    if (this.#language === undefined || code.length > MAX_LINE) return plainSpans(code);
    try {
      return this.#highlight(code, this.#language);
    } catch {
      // A grammar that fails must not take the code with it.
      this.#forget();
      return plainSpans(code);
    }
  }

  #highlight(code: string, language: string): Span[] {
    const source = [...this.#context, code].join("\n");
    const { value, _top: top } = core!.highlight(source, { language, ignoreIllegals: true });
    const spans = lastLine(value);
    const neutral = top === undefined || !("parent" in top) || top.parent === undefined;
    const tooMuch = this.#context.length >= MAX_CONTEXT_LINES || this.#contextChars + code.length > MAX_CONTEXT_CHARS;
    if (neutral || tooMuch) this.#forget();
    else {
      this.#context.push(code);
      this.#contextChars += code.length + 1;
    }
    return spans;
  }

  #forget(): void {
    this.#context = [];
    this.#contextChars = 0;
  }
}

const plainSpans = (code: string): Span[] => (code === "" ? [] : [{ text: text(code) }]);

const HTML = /<span class="([^"]*)">|<\/span>|&(amp|lt|gt|quot|#x27);|[^<&]+/g;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** The spans of the last line of the HTML that `highlight.js` gives. */
function lastLine(html: string): Span[] {
  const start = html.lastIndexOf("\n") + 1;
  const open: Style[] = [];
  const pieces: { text: string; style: Style | undefined }[] = [];
  for (const match of html.matchAll(HTML)) {
    const [tag, scope, entity] = match;
    if (scope !== undefined) open.push(styleOf(scope) ?? open.at(-1) ?? {});
    else if (tag === "</span>") open.pop();
    else if (match.index + tag.length > start) {
      const piece = entity === undefined ? tag.slice(Math.max(0, start - match.index)) : ENTITIES[entity]!;
      const style = open.at(-1);
      const last = pieces.at(-1);
      if (last && last.style === style) last.text += piece;
      else pieces.push({ text: piece, style });
    }
  }
  return pieces.map(({ text: piece, style }) =>
    style && Object.keys(style).length > 0 ? { text: text(piece), style } : { text: text(piece) },
  );
}

/** `hljs-title function_` has the style of `title`. */
function styleOf(scope: string): Style | undefined {
  const name = scope.split(" ")[0]!.replace("hljs-", "");
  return Object.hasOwn(STYLES, name) ? STYLES[name] : undefined;
}
