import { useThread } from "@cinch/client/react";
import type { VNode } from "preact";
import { tourChapter } from "../../tour-chapter.ts";
import { usePage, useSeat } from "../page-context.ts";

/** What a guided user can do now. */
export function GuideLine(): VNode | null {
  const { guide } = usePage();
  const chapter = useThread(useSeat(), tourChapter);
  if (!guide) return null;
  return (
    <aside class="guide" aria-label="Tour">
      <p role="status">{guide.hints[chapter]}</p>
      <button type="button" onClick={guide.leave}>
        Leave the tour
      </button>
    </aside>
  );
}
