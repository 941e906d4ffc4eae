import type { HarnessEvent, Json } from "@cinch/core";
import { briefDisplay } from "./brief-display.ts";
import { briefJson } from "./brief-json.ts";
import { briefMessage, briefResult } from "./brief-message.ts";

/** What is sent of an event: long arguments and results are cut. `listEvents` has them whole. */
export function briefEvent(event: HarnessEvent): HarnessEvent {
  switch (event.type) {
    case "message_end":
      return { ...event, message: briefMessage(event.message) };
    case "tool_start":
    case "subagent_tool_start":
      return { ...event, args: briefJson(event.args) };
    case "tool_approval_resolved":
      return event.args === undefined ? event : { ...event, args: briefJson(event.args) };
    case "tool_resumed":
      return { ...event, resumeData: briefJson(event.resumeData) };
    case "tool_update":
      return { ...event, partialResult: briefJson(event.partialResult as Json) };
    case "tool_end":
    case "subagent_tool_end":
    case "subagent_end":
      return { ...event, result: briefResult(event.result) };
    case "subagent_event":
      return { ...event, event: briefEvent(event.event as HarnessEvent) };
    case "resync":
      return { ...event, displayState: briefDisplay(event.displayState) };
    default:
      return event;
  }
}
