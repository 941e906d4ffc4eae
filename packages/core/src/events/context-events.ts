import * as z from "zod/mini";
import { command, driver, given, live } from "./event-entry.ts";
import { Usage } from "./message.ts";
import { Pattern } from "../permissions/rule.ts";

/** The first and the last `seq` of a part of the journal. */
const SeqRange = z.lazy(() => z.tuple([z.number(), z.number()]));
export type SeqRange = z.infer<typeof SeqRange>;

/** What an observer or a reflector answered. */
const answer = () => ({
  range: SeqRange,
  /** The text. Missing if it can't be used. */
  blob: z.optional(z.string()),
  /** An estimate for the text. */
  tokens: z.number(),
  modelId: z.string(),
  usage: Usage,
  cost: z.nullable(z.number()),
  /** The `seq` of the last rewind or clone that the job knew. The text is dropped if there is a newer one. */
  cutSeq: z.number(),
  /** Why there is no text: the job failed, or the journal has changed since it began. */
  dropped: z.optional(z.string()),
});

/** What a step leaves of the prompt's body. */
const cut = () => ({
  /** Estimated tokens of the messages after the range. */
  bodyTokens: z.number(),
  /** The provider in force at the end of the range. */
  by: z.string(),
  /** The `seq` of user messages of the range that stay in the prompt as they are. */
  kept: z.array(z.number()),
  keptTokens: z.number(),
});

export const CompactionReason = z.enum(["threshold", "idle", "cache", "window", "overflow", "requested"]);
export type CompactionReason = z.infer<typeof CompactionReason>;

/** A tool that a skill may use, with arguments that fit the pattern, if there is one. */
export const AllowedTool = z.lazy(() => z.object({ toolName: z.string(), match: z.optional(Pattern) }));
export type AllowedTool = z.infer<typeof AllowedTool>;

const progress = () => ({ messageTokens: z.number(), observationTokens: z.number() });

/** The part of the event map that is about the prompt's size. */
export const contextEvents = {
  compaction_requested: command(() => ({ ...given, instructions: z.optional(z.string()) })),
  /** `observation`: the text says what happened in the range. It stands in the prompt after an activation. */
  om_observation_end: command(() => ({
    ...answer(),
    /** In the memory of a resource: the thread that was observed. */
    of: z.optional(z.string()),
    currentTask: z.optional(z.string()),
    hint: z.optional(z.string()),
  })),
  /** A shorter text for the blocks of the range. */
  om_reflection_end: command(answer),
  /** Observations stand in the prompt for the messages of the range from here on. */
  om_activation: driver(() => ({
    range: SeqRange,
    ...cut(),
    /** The reflection replaces the blocks that it covers. */
    reflected: z.optional(z.boolean()),
    reason: CompactionReason,
  })),
  /**
   * A summary stands in the prompt for the range from here on. Without `blob`, the range is left out, with a note. Without `range`,
   * nothing changes: there was nothing to summarise, or `failed` says why a requested compaction was not possible.
   */
  context_summarised: driver(() => ({
    range: z.optional(SeqRange),
    ...cut(),
    blob: z.optional(z.string()),
    tokens: z.number(),
    reason: CompactionReason,
    failed: z.optional(z.object({ code: z.string(), message: z.string() })),
  })),
  /** From here on, the instructions stay in the prompt, also after a compaction. */
  skill_loaded: driver(() => ({
    name: z.string(),
    path: z.string(),
    /** The instructions. */
    blob: z.string(),
    /** An estimate for them. */
    tokens: z.number(),
    /** Until the turn ends, calls that none of these covers ask. Left out: no restriction. */
    allowed: z.optional(z.array(AllowedTool)),
  })),
  om_status: live(() => ({ ...progress(), messageLimit: z.number(), observationLimit: z.number() })),
  om_observation_start: live(() => ({ range: SeqRange })),
  om_observation_failed: live(() => ({ range: SeqRange, message: z.string() })),
  om_reflection_start: live(() => ({ range: SeqRange })),
  om_reflection_failed: live(() => ({ range: SeqRange, message: z.string() })),
  /** An observation is made ahead of time, so that the step that needs it does not wait. */
  om_buffering_start: live(progress),
  om_buffering_end: live(progress),
};
