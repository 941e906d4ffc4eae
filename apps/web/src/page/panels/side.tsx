import type { VNode } from "preact";
import { Context } from "./context.tsx";
import { Cost } from "./cost.tsx";
import { Files } from "./files.tsx";
import { Subagents } from "./subagents.tsx";
import { Tasks } from "./tasks.tsx";

/** What stands beside the conversation; on a phone it is folded. */
export const Side = (): VNode => (
  <aside class="side" aria-label="Details">
    <Tasks />
    <Subagents />
    <Files />
    <Cost />
    <Context />
  </aside>
);
