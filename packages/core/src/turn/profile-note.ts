import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { NewEvent } from "../events/event-map.ts";
import { profileNoteIn, type ThreadState } from "../folds/state.ts";
import type { Head } from "../model/prompt.ts";
import type { Ids } from "../ports/ids.ts";
import type { Driver } from "./driver.ts";
import type { Setup } from "./setup.ts";
import { dateInNote } from "./sources.ts";

/** A note for the model about its profile. */
export interface ProfileNote {
  /** A hash of what the profile changes in a head. */
  version: string;
  text: string;
}

const NO_LONGER = "Earlier notes about it are no longer in force.";

/** What the model has to be told of its profile. `null`: the prompt has it already, or the head that is made next will have it. */
export async function profileNote(driver: Driver, setup: Setup): Promise<ProfileNote | null> {
  const { head } = driver.state;
  if (!head || head.isOutdated || !setup.isResolved) return null;
  const next = setup.head(head.subagents);
  const [key, version] = await Promise.all([next.key, next.profileVersion]);
  if (key !== head.key || version === head.profile) return null;
  const { tools, profile = { base: "", suffix: "" } } = await driver.ports.heads.get(head.blob);
  const change = changeBetween({ tools, profile }, next);
  const since = change === "" ? "Again as when" : "Changed since";
  const date = dateInNote(driver.ports.clock.now());
  const text = `${since} this conversation began: the profile of this model (${date}). ${NO_LONGER}`;
  return { version, text: change === "" ? text : `${text}\n\n${change}` };
}

/** The event for a note, unless the prompt has it by now. */
export function profileNoted({ head, turn }: ThreadState, note: ProfileNote | null, ids: Ids): NewEvent[] {
  if (!head || !turn || !note || head.profile === note.version) return [];
  return [noteEvent(turn.turnId, note, ids)];
}

/** For a new head: the notes stay, and may be about the profile of another model. */
export function profileInHead(
  state: ThreadState,
  { version, ids, now }: { version: string; ids: Ids; now: number },
): NewEvent[] {
  const { head, turn } = state;
  if (!turn || profileNoteIn(state) === 0 || head?.profile === version) return [];
  const text = `Your instructions have the profile of this model (${dateInNote(now)}). ${NO_LONGER}`;
  return [noteEvent(turn.turnId, { version, text }, ids)];
}

const noteEvent = (turnId: string, { version, text }: ProfileNote, ids: Ids): NewEvent => ({
  type: "message_end",
  turnId,
  about: "context",
  profile: version,
  message: { id: ids("message"), role: "note", content: [{ type: "text", text }] },
});

type Told = Required<Pick<Head, "tools" | "profile">>;

/** Compared with the head, not with the last note: each note stands for those before it. */
function changeBetween(before: Told, now: Told): string {
  const [old, listed] = [descriptions(before.tools), descriptions(now.tools)];
  const anew = [...listed].filter(([name, text]) => old.has(name) && old.get(name) !== text);
  const gone = [...old.keys()].filter((name) => !listed.has(name));
  const added = [...listed.keys()].filter((name) => !old.has(name));
  const changed = (["base", "suffix"] as const).filter((part) => before.profile[part] !== now.profile[part]);
  const texts = (of: Told) => changed.map((part) => of.profile[part]).filter((text) => text !== "");
  const lines = [
    ...texts(before).map((text) => `No longer in force, from your instructions:\n\n${text}`),
    ...texts(now).map((text) => `In force from now on:\n\n${text}`),
    anew.length > 0 &&
      `These tools are described anew:\n${anew.map(([name, text]) => `- ${name}: ${text}`).join("\n")}`,
    gone.length > 0 && `These tools can't be used any more: ${gone.join(", ")}.`,
    // A provider lets a model call only what the request lists.
    added.length > 0 && `These tools can be used when they are listed: ${added.join(", ")}.`,
  ];
  return lines.filter((line) => line !== false).join("\n\n");
}

const descriptions = (tools: readonly LanguageModelV4FunctionTool[]): Map<string, string> =>
  new Map(tools.map(({ name, description = "" }) => [name, description]));
