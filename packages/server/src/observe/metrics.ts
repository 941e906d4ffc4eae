import type { MetricFamily } from "./exposition.ts";
import { Counter, Histogram } from "./instruments.ts";

/** Why a watcher gets the whole display: it joins, the events that it missed can't be replayed, or its connection is too slow. */
export type ResyncReason = "join" | "replay" | "slow";

/** What a server has counted since it was made. */
export class Metrics {
  readonly requests = new Counter("cinch_http_requests_total", "Answers, by route and status.");
  readonly seconds = new Histogram(
    "cinch_http_request_duration_seconds",
    "From the request to its answer, or to the beginning of its stream. Routes that wait are slow on purpose.",
  );
  readonly refused = new Counter("cinch_refused_total", "Requests that were refused, by reason.");
  readonly resyncs = new Counter("cinch_resyncs_total", "Whole displays that were sent to watchers, by reason.");
  #bytes = 0;
  #watchers = 0;
  #streams = 0;

  sent(bytes: number): void {
    this.#bytes += bytes;
  }

  resync(reason: ResyncReason): void {
    this.resyncs.add({ reason });
  }

  /** Counts a stream until the returned function is called. */
  stream(): () => void {
    this.#streams += 1;
    return () => void (this.#streams -= 1);
  }

  /** Counts a watcher until the returned function is called. */
  watcher(): () => void {
    this.#watchers += 1;
    return () => void (this.#watchers -= 1);
  }

  families(): MetricFamily[] {
    return [
      this.requests.family,
      this.seconds.family,
      this.refused.family,
      this.resyncs.family,
      { ...gauge("cinch_sent_bytes_total", "Bytes of bodies and streams.", this.#bytes), type: "counter" },
      gauge("cinch_streams_open", "Open streams, of threads and of lists.", this.#streams),
      gauge("cinch_watchers", "Open streams of threads.", this.#watchers),
    ];
  }
}

export const gauge = (name: string, help: string, value: number): MetricFamily => ({
  name,
  type: "gauge",
  help,
  samples: [{ value }],
});
