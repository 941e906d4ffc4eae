import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "../ui/copy-button.tsx";

/** A piece of code with one colour. */
export interface CodeSpan {
  text: string;
  /** Of `highlight.js`, such as `keyword`. */
  scope: string | null;
}

type Highlight = (source: string, language: string) => readonly CodeSpan[] | null;
let highlight: Promise<Highlight> | undefined;

/** Longer code gains nothing from colours. */
const MAX_CHARS = 60_000;

/** Colours come when the code has stood still for a moment, and the highlighter is loaded. */
export function Code({ source, language }: { source: string; language: string }): VNode {
  const [coloured, setColoured] = useState<{ source: string; spans: readonly CodeSpan[] } | null>(null);
  useEffect(() => {
    if (language === "" || source.length > MAX_CHARS) return;
    let isGone = false;
    const timer = setTimeout(async () => {
      highlight ??= import("./highlight.ts").then((module) => module.highlighted);
      const spans = (await highlight)(source, language);
      if (spans && !isGone) setColoured({ source, spans });
    }, 150);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [source, language]);
  const spans = coloured?.source === source ? coloured.spans : null;
  return (
    <figure class="code" dir="ltr">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={source} />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {spans
            ? spans.map(({ text, scope }, at) => (
                <span key={at} class={scope ? `hl-${scope}` : undefined}>
                  {text}
                </span>
              ))
            : source}
        </code>
      </pre>
    </figure>
  );
}
