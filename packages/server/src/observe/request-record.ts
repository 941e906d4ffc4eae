import { randomUUID } from "node:crypto";
import { errorResponse, HttpError, knownFailure } from "../http/http-error.ts";
import type { Who } from "../access/who.ts";
import { routePattern, type Route } from "../routes/route.ts";
import type { LogLine, WriteLog } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";

interface RecordPorts {
  log: WriteLog;
  metrics: Metrics;
}

/** Any word can be a method, and callers choose it. */
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH"]);

/** What is known about one request, for the log and the metrics. */
export class RequestRecord {
  readonly id = randomUUID();
  readonly #ports: RecordPorts;
  readonly #startedAt = performance.now();
  readonly #method: string;
  #route: string | null = null;
  #who: Pick<LogLine, "by" | "threadId"> = {};
  #end: Pick<LogLine, "refused" | "cause"> = {};
  #error: unknown;
  #isStream = false;

  constructor(ports: RecordPorts, method: string) {
    this.#ports = ports;
    this.#method = METHODS.has(method) ? method : "OTHER";
  }

  matched(route: Route): void {
    this.#route = routePattern(route);
  }

  calledBy({ by }: Who): void {
    if (by !== undefined) this.#who = { ...this.#who, by };
  }

  /** The id is valid, whether or not there is such a thread. */
  concerns(threadId: string | undefined): void {
    if (threadId !== undefined) this.#who = { ...this.#who, threadId };
  }

  /** The answer to a failure. The cause of a defect is in the log alone. */
  failed(error: unknown): Response {
    const known = knownFailure(error);
    if (known) {
      this.refused(known.reason);
      return errorResponse(known);
    }
    this.#end = { cause: causeOf(error) };
    this.#error = error;
    return errorResponse(new HttpError(500, "INTERNAL", `The server failed. The log has more under ${this.id}.`));
  }

  refused(reason: string): this {
    this.#end = { refused: reason };
    this.#ports.metrics.refused.add({ reason });
    return this;
  }

  /** A stream begins, and ends when the returned function is called. */
  stream(): (bytes: number) => void {
    this.#isStream = true;
    const closed = this.#ports.metrics.stream();
    this.#write({ event: "stream_start", status: 200, bytes: 0 });
    return (bytes) => {
      closed();
      this.#write({ event: "stream_end", status: 200, bytes });
    };
  }

  answered(status: number, bytes: number): void {
    const { requests, seconds } = this.#ports.metrics;
    const at = { method: this.#method, route: this.#route ?? "none" };
    requests.add({ ...at, status: String(status) });
    seconds.observe(at, (performance.now() - this.#startedAt) / 1_000);
    this.#ports.metrics.sent(bytes);
    // A stream that has begun has its own lines.
    if (!this.#isStream || status !== 200) this.#write({ event: "request", status, bytes });
  }

  #write(line: Pick<LogLine, "event" | "status" | "bytes">): void {
    const { event, status, bytes } = line;
    const { cause } = this.#end;
    const whole: LogLine = {
      time: new Date().toISOString(),
      level: cause ? "error" : "info",
      event,
      requestId: this.id,
      method: this.#method,
      route: this.#route,
      status,
      ms: Math.round((performance.now() - this.#startedAt) * 10) / 10,
      bytes,
      ...this.#who,
      ...this.#end,
    };
    try {
      if (cause) this.#ports.log(whole, this.#error);
      else this.#ports.log(whole);
    } catch {
      // A log that fails must not fail the request.
    }
  }
}

/** Names and codes only, and none that a caller could have written. */
function causeOf(error: unknown): NonNullable<LogLine["cause"]> {
  const { name, code } = (error instanceof Error ? error : {}) as { name?: unknown; code?: unknown };
  const word = (value: unknown) => (typeof value === "string" && /^\w{1,64}$/.test(value) ? value : undefined);
  const shown = word(code);
  return { name: word(name) ?? typeof error, ...(shown === undefined ? {} : { code: shown }) };
}
