import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { withVisibleSigns } from "../ui/format.ts";
import { countLines, diffLines, type DiffLine } from "./diff-lines.ts";

const ROW = 20;
/** Fewer rows are all drawn, and scroll with the page. */
const SHORT = 400;
const BEYOND = 30;
const SIGNS = { added: "+", removed: "−", same: " ", hunk: " ", note: " " } as const;

/** A unified diff. Of a long one only the rows that can be seen are drawn. */
export function DiffView({ diff, label }: { diff: string; label: string }): VNode {
  const lines = useMemo(() => diffLines(diff), [diff]);
  return lines.length <= SHORT ? (
    <div class="diff" tabIndex={0} role="group" aria-label={label} dir="ltr">
      <Rows lines={lines} />
    </div>
  ) : (
    <LongDiff lines={lines} label={label} />
  );
}

function LongDiff({ lines, label }: { lines: readonly DiffLine[]; label: string }): VNode {
  const [top, setTop] = useState(0);
  const from = Math.max(0, Math.floor(top / ROW) - BEYOND);
  const to = Math.min(lines.length, from + 2 * BEYOND + 40);
  return (
    <div
      class="diff long"
      tabIndex={0}
      role="group"
      aria-label={`${label}, ${lines.length} lines`}
      dir="ltr"
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div style={{ height: `${lines.length * ROW}px` }}>
        <div style={{ transform: `translateY(${from * ROW}px)` }}>
          <Rows lines={lines.slice(from, to)} />
        </div>
      </div>
    </div>
  );
}

const Rows = ({ lines }: { lines: readonly DiffLine[] }): VNode => (
  <>
    {lines.map(({ kind, text, before, after }, at) => (
      <div key={at} class={`row ${kind}`}>
        <span class="number">{before ?? ""}</span>
        <span class="number">{after ?? ""}</span>
        <span class="sign">{SIGNS[kind]}</span>
        <span class="line">{withVisibleSigns(text)}</span>
      </div>
    ))}
  </>
);

/** How much a diff changes, in few characters. */
export function DiffCount({ diff }: { diff: string }): VNode {
  const { added, removed } = useMemo(() => countLines(diff), [diff]);
  return (
    <span class="diff-count">
      <span class="added">+{added}</span> <span class="removed">−{removed}</span>
    </span>
  );
}
