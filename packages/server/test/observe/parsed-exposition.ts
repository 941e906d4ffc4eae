/** Metrics as Prometheus reads them. */
export interface Exposition {
  value(name: string, labels?: Record<string, string>): number | undefined;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (-?[0-9.e+-]+|\\+Inf|NaN)$`);
const HELP = new RegExp(`^# HELP (${NAME}) ((?:[^\\\\]|\\\\[\\\\n])*)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`);
const SUFFIXES = {
  counter: [""],
  gauge: [""],
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

/** Throws for a text that is not exactly in the format. */
export function parsedExposition(text: string): Exposition {
  if (!text.endsWith("\n")) throw new Error("The last line must end with a line feed.");
  const samples = new Map<string, number>();
  const seen = new Set<string>();
  let family: { name: string; type?: keyof typeof SUFFIXES } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, help] = HELP.exec(line) ?? [];
    const [, typed, type] = TYPE.exec(line) ?? [];
    if (help !== undefined) {
      if (seen.has(help)) throw new Error(`The family ${help} is there twice.`);
      seen.add(help);
      family = { name: help };
      continue;
    }
    if (typed !== undefined) {
      if (family?.name !== typed || family.type) throw new Error(`${line}: not after the HELP of its family.`);
      family = { name: typed, type: type as keyof typeof SUFFIXES };
      continue;
    }
    const [, name = "", labels = "", value] = SAMPLE.exec(line) ?? [];
    if (value === undefined) throw new Error(`${line}: neither a sample nor a comment of the format.`);
    const suffixes = family?.type ? SUFFIXES[family.type] : [];
    if (!suffixes.some((suffix) => name === family!.name + suffix)) throw new Error(`${line}: not of its family.`);
    if (family!.type !== "gauge" && !(Number(value) >= 0)) throw new Error(`${line}: a count below 0.`);
    if (family!.type === "counter" && !name.endsWith("_total")) throw new Error(`${line}: a counter ends in _total.`);
    const key = keyOf(name, labelsOf(labels));
    if (samples.has(key)) throw new Error(`${line}: twice.`);
    samples.set(key, Number(value));
  }
  return { value: (name, labels = {}) => samples.get(keyOf(name, labels)) };
}

const keyOf = (name: string, labels: Record<string, string>): string =>
  JSON.stringify([name, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))]);

function labelsOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, unescaped(value)]));
}

const unescaped = (value: string): string =>
  value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
