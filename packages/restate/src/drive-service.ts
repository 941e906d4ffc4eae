import {
  createServiceHandler,
  service,
  TerminalError,
  type Serde,
  type ServiceDefinition,
} from "@restatedev/restate-sdk";
import { CinchError, type DriveOutcome } from "@cinch/core";

const DAY_MS = 24 * 60 * 60_000;

/**
 * Five attempts, the last ten to fifteen seconds after the first: to a worker that was killed, that has no room, or that is not there. Then
 * the invocation ends: the thread is awake in the store, where workers find it.
 */
const RETRIES = {
  initialInterval: 250,
  exponentiationFactor: 3,
  maxInterval: 7_000,
  maxAttempts: 5,
  onMaxAttempts: "kill",
} as const;

/** What a worker does with a wake. */
export interface DriveHandler {
  drive(threadId: string): Promise<DriveOutcome>;
  /** Asks another worker, because this one leaves. */
  wakeAgain(threadId: string): Promise<void>;
}

/**
 * A service with one handler, `drive({ threadId })`. Its invocation lasts as long as this worker drives. Nothing is journaled, so an attempt
 * that is cut off is simply made again, and finds the thread driven.
 */
export function driveService(name: string, handler: DriveHandler): ServiceDefinition<string, unknown> {
  return service({
    name,
    handlers: { drive: createServiceHandler({ input: anything }, (_, input: unknown) => answer(input, handler)) },
    options: {
      // By default, Restate would begin a second attempt beside one that has been silent for a minute.
      inactivityTimeout: DAY_MS,
      abortTimeout: DAY_MS,
      journalRetention: 0,
      idempotencyRetention: 0,
      retryPolicy: RETRIES,
    },
  });
}

/** Rejects to be asked again. What can never succeed is a `TerminalError`, which Restate does not repeat. */
async function answer(input: unknown, { drive, wakeAgain }: DriveHandler): Promise<void> {
  const threadId = threadOf(input);
  const outcome = await drive(threadId).catch((error: unknown) => {
    if (error instanceof CinchError && ENDLESS.includes(error.code)) throw new TerminalError(error.message);
    throw error;
  });
  if (outcome === "busy") throw new Error("This worker has no room for the thread.");
  // Not by another attempt: the connection of this one may be closed, and then its answer is lost.
  if (outcome === "handed_over") await wakeAgain(threadId);
}

/** Codes of errors that another attempt does not change. */
const ENDLESS = ["THREAD_NOT_FOUND", "INVALID_INPUT", "INVALID_CONFIG"];

function threadOf(input: unknown): string {
  const threadId: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "threadId") : undefined;
  if (typeof threadId === "string" && threadId !== "") return threadId;
  throw new TerminalError('drive takes { threadId: "…" }.', { errorCode: 400 });
}

/** Text that is not JSON is no reason to try again. */
const anything: Serde<unknown> = {
  contentType: "application/json",
  serialize: (value) => new TextEncoder().encode(JSON.stringify(value)),
  deserialize: (bytes) => {
    try {
      return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    } catch {
      return undefined;
    }
  },
};
