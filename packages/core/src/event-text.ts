/** The text of events, alone: for a thread of a store that loads nothing else of core. */
export { eventText, offloadedBlob } from "./ports/event-text.ts";
