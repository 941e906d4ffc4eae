import type { EventType } from "./event-map.ts";

/** The newest version of each event that has more than one. Apart from the event map, so that a fold in a browser needs no schemas. */
export const VERSIONS: Partial<Record<EventType, number>> = { checkpoint_created: 2, input_accepted: 2 };

/** True for a version that this release does not know. Folds skip such an event. */
export const isNewer = ({ type, v }: { type: string; v: number }): boolean =>
  v > ((VERSIONS as Record<string, number | undefined>)[type] ?? 1);
