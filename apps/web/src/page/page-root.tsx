import type { Client, ServerInfo } from "@cinch/client";
import type { VNode } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useCallback, useEffect, useState } from "preact/hooks";
import { PageApp } from "./page-app.tsx";

const TourPage = lazy(() => import("./tour/tour-page.tsx"));
const isTourAddress = (): boolean => /^#\/tour(\/|$)/.test(location.hash);

/** The threads of the server, or the tour, as the address says. */
export function PageRoot({ client, info }: { client: Client; info: ServerInfo }): VNode {
  const [isTour, setTour] = useState(isTourAddress);
  useEffect(() => {
    const onChange = () => setTour(isTourAddress());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  const leave = useCallback(() => void (location.hash = ""), []);
  return isTour ? (
    <Suspense fallback={<main class="welcome" />}>
      <TourPage onLeave={leave} />
    </Suspense>
  ) : (
    <PageApp client={client} info={info} />
  );
}
