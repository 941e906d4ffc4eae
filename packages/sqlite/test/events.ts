import type { DurableType } from "@cinch/core";
import type { StampedEvent } from "@cinch/core/store";

let clock = 1_700_000_000_000;

export const event = (type: DurableType, fields: object = {}): StampedEvent =>
  ({ type, v: 1, at: ++clock, ...fields }) as StampedEvent;
export const created = (fields: object = {}) =>
  event("thread_created", { title: "A thread", resourceId: "me", ...fields });
export const input = (content: string) => event("input_accepted", { inputId: "i", delivery: "send", content });
export const says = (text: string) =>
  event("message_end", { message: { id: "m", role: "assistant", content: [{ type: "text", text }] } });
