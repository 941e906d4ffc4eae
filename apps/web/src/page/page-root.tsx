import type { Client, ServerInfo } from "@cinch/client";
import type { VNode } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { PageApp } from "./page-app.tsx";

type Tour = typeof import("./tour/tour-page.tsx").default;
const isTourAddress = (): boolean => /^#\/tour(\/|$)/.test(location.hash);

/** The threads of the server, or the tour, as the address says. */
export function PageRoot({ client, info }: { client: Client; info: ServerInfo }): VNode {
  const [isTour, setTour] = useState(isTourAddress);
  const [Tour, setLoaded] = useState<Tour>();
  useEffect(() => {
    const onChange = () => setTour(isTourAddress());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  const leave = useCallback(() => void (location.hash = ""), []);
  useEffect(() => {
    // Without the script of the tour, there is the page.
    if (isTour) import("./tour/tour-page.tsx").then((tour) => setLoaded(() => tour.default), leave);
  }, [isTour]);
  if (!isTour) return <PageApp client={client} info={info} />;
  return Tour ? <Tour onLeave={leave} /> : <main class="welcome" />;
}
