import type { Labels, MetricFamily, MetricSample } from "./exposition.ts";

/** A number for each combination of labels, which only grows. */
export class Counter {
  readonly #family: Pick<MetricFamily, "name" | "help">;
  readonly #samples = new Map<string, { labels: Labels; value: number }>();

  constructor(name: string, help: string) {
    this.#family = { name, help };
  }

  add(labels: Labels = {}, value = 1): void {
    const key = JSON.stringify(labels);
    const sample = this.#samples.get(key) ?? { labels, value: 0 };
    sample.value += value;
    this.#samples.set(key, sample);
  }

  get family(): MetricFamily {
    return { ...this.#family, type: "counter", samples: [...this.#samples.values()] };
  }
}

const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

interface Measured {
  labels: Labels;
  /** How many values are at most the bound, but above the one before it. The last is for those above all bounds. */
  counts: number[];
  sum: number;
}

/** How long something took, for each combination of labels. */
export class Histogram {
  readonly #family: Pick<MetricFamily, "name" | "help">;
  readonly #measured = new Map<string, Measured>();

  constructor(name: string, help: string) {
    this.#family = { name, help };
  }

  observe(labels: Labels, seconds: number): void {
    const key = JSON.stringify(labels);
    const measured = this.#measured.get(key) ?? { labels, counts: [...BOUNDS, Infinity].map(() => 0), sum: 0 };
    const at = BOUNDS.findIndex((bound) => seconds <= bound);
    measured.counts[at === -1 ? BOUNDS.length : at]! += 1;
    measured.sum += seconds;
    this.#measured.set(key, measured);
  }

  get family(): MetricFamily {
    return { ...this.#family, type: "histogram", samples: [...this.#measured.values()].flatMap(samplesOf) };
  }
}

/** Prometheus wants buckets that each contain those below. */
function samplesOf({ labels, counts, sum }: Measured): MetricSample[] {
  let total = 0;
  const buckets = [...BOUNDS.map(String), "+Inf"].map((le, at) => {
    total += counts[at]!;
    return { suffix: "_bucket", labels: { ...labels, le }, value: total };
  });
  return [...buckets, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: total }];
}
