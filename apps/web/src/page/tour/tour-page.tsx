import { connect, type Client, type ServerInfo } from "@cinch/client";
import { randomIds } from "@cinch/core/remote";
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { TOUR_REQUEST } from "../../tour-chapter.ts";
import { PageApp } from "../page-app.tsx";
import { tabFetch } from "../tab-fetch.ts";
import { currentToken } from "../token.ts";
import { keepDraft } from "../ui/draft.ts";
import { inTab } from "../ui/kept-texts.ts";
import { TOUR_HINTS } from "./tour-hints.ts";

const KEY = "cinch-tour";

/** The page at a throw-away project of its own, with a guide. A reload stays in the same tour. */
export default function TourPage({ onLeave }: { onLeave: () => void }): VNode {
  const [tour] = useState(openTour);
  const [info, setInfo] = useState<ServerInfo | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    begun(tour.client).then(setInfo, (error: Error) => setFailure(error.message));
    return () => void tour.client.close();
  }, [tour]);
  const guide = useMemo(
    () => ({
      hints: TOUR_HINTS,
      leave: () => {
        inTab.set(KEY, null);
        // Nothing is asked of the tour any more. The server removes one that was not left, too: when it ends, or when there are others.
        tour.client.close().catch(() => undefined);
        tour.remove().catch(() => undefined);
        onLeave();
      },
    }),
    [tour, onLeave],
  );
  if (info) return <PageApp client={tour.client} info={info} guide={guide} />;
  return (
    <main class="welcome">
      <p role="status">{failure ?? "Preparing a small project for the tour…"}</p>
      {failure !== null && (
        <button type="button" onClick={guide.leave}>
          Leave the tour
        </button>
      )}
    </main>
  );
}

function openTour(): { client: Client; remove: () => Promise<unknown> } {
  const id = inTab.get(KEY) ?? randomIds("thread");
  inTab.set(KEY, id);
  const url = `${location.origin}/tour/${id}`;
  const token = () => currentToken() ?? "";
  return {
    client: connect({ url, token, fetch: tabFetch }),
    remove: () => fetch(url, { method: "DELETE", headers: { authorization: `Bearer ${token()}` } }),
  };
}

/** The thread of the story, with the request in its composer. */
async function begun(client: Client): Promise<ServerInfo> {
  const info = await client.init();
  const [thread] = await client.listThreads();
  if (!thread) {
    const session = await client.createSession();
    const { id } = await session.createThread({ title: "Tour" });
    await session.close();
    keepDraft(id, TOUR_REQUEST);
    location.replace(`#/tour/${id}`);
  } else if (!/^#\/tour\/./.test(location.hash)) location.replace(`#/tour/${thread.id}`);
  return info;
}
