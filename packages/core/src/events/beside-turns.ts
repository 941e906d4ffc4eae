import type { EventType } from "./event-map.ts";

const BESIDE_TURNS = [
  "thread_created",
  "thread_cloned",
  "thread_changed",
  "input_accepted",
  "input_edited",
  "input_removed",
  "abort_requested",
  "follow_up_queued",
  "steer_queued",
  "prompt_head",
  "permission_changed",
  "grant_added",
  "background_started",
  "background_settled",
  "file_changed",
  "checkpoint_created",
  "workspace_status_changed",
  "workspace_ready",
  "workspace_error",
  "display_state_changed",
  "compaction_requested",
  "context_offloaded",
  "context_summarised",
  "skill_loaded",
  "om_observation_start",
  "om_observation_end",
  "om_observation_failed",
  "om_reflection_start",
  "om_reflection_end",
  "om_reflection_failed",
  "om_activation",
  "om_status",
  "om_buffering_start",
  "om_buffering_end",
] as const satisfies readonly EventType[];

/**
 * The lines of a table by type of event for what happens beside turns: to the thread, its queue, its files and its memory. Protocols of
 * other projects have no words for it.
 */
export const besideTurns = <Line>(line: Line): Record<(typeof BESIDE_TURNS)[number], Line> =>
  Object.fromEntries(BESIDE_TURNS.map((type) => [type, line])) as Record<(typeof BESIDE_TURNS)[number], Line>;
