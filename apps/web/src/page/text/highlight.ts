import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { CodeSpan } from "./code.tsx";

const LANGUAGES = { bash, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const HTML = /<span class="([^"]*)">|<\/span>|&(amp|lt|gt|quot|#x27);|[^<&]+/g;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** `null` for a language that is not known. The HTML of `highlight.js` is read, and never becomes a part of the page. */
export function highlighted(source: string, info: string): readonly CodeSpan[] | null {
  const language = /^[\w+#-]*/.exec(info)![0].toLowerCase();
  if (!hljs.getLanguage(language)) return null;
  const { value } = hljs.highlight(source, { language, ignoreIllegals: true });
  const open: (string | null)[] = [];
  const spans: CodeSpan[] = [];
  for (const [tag, scope, entity] of value.matchAll(HTML)) {
    if (scope !== undefined) open.push(/^hljs-(\w+)/.exec(scope)?.[1] ?? open.at(-1) ?? null);
    else if (tag === "</span>") open.pop();
    else spans.push({ text: entity === undefined ? tag : ENTITIES[entity]!, scope: open.at(-1) ?? null });
  }
  return spans;
}
