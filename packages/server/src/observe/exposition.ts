export type Labels = Readonly<Record<string, string>>;

export interface MetricSample {
  /** What follows the name of the family: `_bucket`. */
  suffix?: string;
  labels?: Labels;
  value: number;
}

/** One metric with all its labels. */
export interface MetricFamily {
  name: string;
  type: "counter" | "gauge" | "histogram" | "summary";
  help: string;
  samples: readonly MetricSample[];
}

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics in the text format of Prometheus. */
export const exposition = (families: readonly MetricFamily[]): string => families.map(familyText).join("");

function familyText({ name, type, help, samples }: MetricFamily): string {
  const lines = samples.map(({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}`);
  return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
