import type { VNode } from "preact";
import { ContextPanel } from "./context-panel.tsx";
import { CostPanel } from "./cost-panel.tsx";
import { FilesPanel } from "./files-panel.tsx";
import { SubagentsPanel } from "./subagents-panel.tsx";
import { TasksPanel } from "./tasks-panel.tsx";

/** What stands beside the conversation; on a phone it is folded. */
export const Side = (): VNode => (
  <aside class="side" aria-label="Details">
    <TasksPanel />
    <SubagentsPanel />
    <FilesPanel />
    <CostPanel />
    <ContextPanel />
  </aside>
);
