import type { HarnessEvent, LiveEvent } from "@cinch/core";
import * as fc from "fast-check";
import { journals } from "../../../testkit/src/journal.ts";

export const where = { threadId: "thread_a", at: 1, turnId: "turn_1" };
export const tool = { toolCallId: "call_1", toolName: "read_file" };

/** Live events between durable ones, also for unknown messages and calls. */
const live = fc.oneof(
  fc
    .record({ messageId: fc.constantFrom("m1", "m2"), index: fc.nat(3), delta: fc.string({ maxLength: 3 }) })
    .map((update): LiveEvent => ({ type: "message_update", role: "assistant", part: "text", ...update, ...where })),
  fc.constantFrom<LiveEvent>(
    { type: "message_start", messageId: "m1", role: "assistant", ...where },
    { type: "message_start", messageId: "m2", role: "assistant", ...where },
    { type: "message_discarded", messageId: "m1", role: "assistant", reason: "broke", ...where },
    { type: "tool_input_start", ...tool, ...where },
    { type: "tool_input_delta", ...tool, argsTextDelta: '{"a"', ...where },
    { type: "tool_input_end", ...tool, ...where },
    { type: "tool_update", ...tool, partialResult: [1, { two: null }], ...where },
    { type: "shell_output", ...tool, output: "a line\n", stream: "stdout", ...where },
    { type: "shell_output", ...tool, output: "🙂".repeat(3_000), stream: "stderr", ...where },
    { type: "retry_scheduled", attempt: 1, delayMs: 10, message: "later", ...where },
    { type: "info", message: "so", ...where },
  ),
) as fc.Arbitrary<HarnessEvent>;

/** A journal with live events at random positions. */
export const streams = fc
  .tuple(journals, fc.array(fc.array(live, { maxLength: 4 }), { maxLength: 60 }))
  .map(([events, between]) =>
    events.flatMap((event, at): HarnessEvent[] => [event as HarnessEvent, ...(between[at] ?? [])]),
  );
