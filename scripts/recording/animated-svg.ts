import type { Run, ScreenShot } from "./screen-shot.ts";

const CELL = { width: 8.4, height: 18 };
const MARGIN = 14;
const BACKGROUND = "#16181d";
const FOREGROUND = "#d7dae0";
/** The 16 colours of a terminal. */
const PALETTE = [
  "#3b4048",
  "#e06c75",
  "#98c379",
  "#e5c07b",
  "#61afef",
  "#c678dd",
  "#56b6c2",
  "#d7dae0",
  "#7f848e",
  "#ef8a92",
  "#b5e08f",
  "#f0d399",
  "#85c5ff",
  "#dd9bf0",
  "#7fd4e0",
  "#ffffff",
];

/**
 * A recording as one picture, which a page shows without a script. The frames stand side by side, and the strip is moved. A row that
 * several frames show is drawn once.
 */
export function animatedSvg(
  shots: readonly ScreenShot[],
  { columns, rows }: { columns: number; rows: number },
): string {
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil(rows * CELL.height + 2 * MARGIN);
  const total = shots.reduce((sum, { ms }) => sum + ms, 0);
  const drawn = new Map<string, number>();
  const idOf = (runs: readonly Run[]) => {
    const drawing = runs.map(drawRun).join("");
    if (!drawn.has(drawing)) drawn.set(drawing, drawn.size);
    return drawn.get(drawing)!;
  };
  const frames = shots.map((shot, at) => frame(shot, { x: at * width, idOf }));
  let elapsed = 0;
  const keyframes = shots.map(({ ms }, at) => {
    const start = ((100 * elapsed) / total).toFixed(3);
    elapsed += ms;
    return `${start}%{transform:translateX(-${at * width}px)}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>
text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${FOREGROUND};white-space:pre}
.b{font-weight:bold}.d{opacity:.6}.i{font-style:italic}
${PALETTE.map((color, at) => `.c${at}{fill:${color}}`).join("")}
#strip{animation:play ${(total / 1000).toFixed(1)}s step-end infinite}
@keyframes play{${keyframes.join("")}}
@media (prefers-reduced-motion:reduce){#strip{animation:none}}
</style>
<defs>${Array.from(drawn, ([drawing, id]) => `<g id="r${id}">${drawing}</g>`).join("\n")}</defs>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g id="strip">
${frames.join("\n")}
</g>
</svg>
`;
}

function frame(
  { rows, cursor }: ScreenShot,
  { x, idOf }: { x: number; idOf: (runs: readonly Run[]) => number },
): string {
  const lines = rows.flatMap((runs, row) =>
    runs.length === 0 ? [] : [`<use href="#r${idOf(runs)}" y="${row * CELL.height}"/>`],
  );
  const block = `<rect x="${rounded(cursor.column * CELL.width)}" y="${cursor.row * CELL.height + 2}" width="${CELL.width}" height="16" fill="${FOREGROUND}" opacity=".6"/>`;
  return `<g transform="translate(${x + MARGIN} ${MARGIN})">${lines.join("")}${block}</g>`;
}

function drawRun({ text, column, width, color, bold, dim, inverse, italic }: Run): string {
  const x = rounded(column * CELL.width);
  const length = rounded(width * CELL.width);
  const drawn = text.trim();
  // Not every program that draws SVG keeps spaces at the start of a text.
  const textX = rounded((column + text.indexOf(drawn)) * CELL.width);
  const textLength = rounded((width - text.length + drawn.length) * CELL.width);
  const classes = [color === null ? "" : `c${color}`, bold ? "b" : "", dim ? "d" : "", italic ? "i" : ""];
  const named = classes.filter(Boolean).join(" ");
  const back = inverse
    ? `<rect x="${x}" y="1" width="${length}" height="${CELL.height}" fill="${color === null ? FOREGROUND : PALETTE[color]}"/>`
    : "";
  const fill = inverse ? ` style="fill:${BACKGROUND}"` : "";
  return `${back}<text x="${textX}" y="14" textLength="${textLength}"${named ? ` class="${named}"` : ""}${fill}>${escaped(drawn)}</text>`;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(" ", "\u00a0");
