import { tabRest as rest } from "./tab-rest.ts";

/** A browser has six connections to a server, for all tabs together. Two are left for requests. */
const STREAMS = 4;
const SHOWN_MS = 1_000;
const HIDDEN_MS = 5_000;
/** The client takes a stream for dead that says nothing for 40 s. */
const HEARTBEAT_MS = 15_000;
const PROTOCOL = { "cinch-protocol": "1" };

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A fetch for a tab of many: some of them stream, and the others ask again and again, with short requests. A tab that rests does neither.
 * Without Web Locks, which a page without TLS has on loopback only, every tab streams.
 */
export const tabFetch: Fetch = async (url, init) => {
  const { accept } = init.headers as Record<string, string>;
  if (accept === "text/event-stream") return streamed(url, init);
  if (accept === "application/json") return polled(new URL(url), init);
  // A deletion may be the last thing that a page does.
  return fetch(url, { ...init, keepalive: init.method === "DELETE" });
};

async function streamed(url: string, init: RequestInit): Promise<Response> {
  if (rest.isResting) return quietStream(init.signal!);
  const fetched = () => fetch(url, { ...init, signal: AbortSignal.any([init.signal!, rest.begins]) });
  if (!("locks" in navigator)) return fetched();
  for (let place = 0; place < STREAMS; place++) if (await takePlace(place, init.signal!)) return fetched();
  const error = { code: "TOO_MANY", message: "Other tabs have the connections." };
  return Response.json({ error }, { status: 429, headers: PROTOCOL });
}

/** What the client gets while the tab rests. It ends with the rest, and the client connects again. */
function quietStream(signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    start(controller) {
      const beat = () => controller.enqueue(encoder.encode(": resting\n\n"));
      const timer = setInterval(beat, HEARTBEAT_MS);
      const end = () => {
        clearInterval(timer);
        controller.close();
      };
      beat();
      void Promise.race([rest.awake, aborted(signal)]).then(end);
    },
  });
  return new Response(body, { headers: { ...PROTOCOL, "content-type": "text/event-stream" } });
}

/** The client aborts the signal of every request when it is over. */
const takePlace = (place: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const held = async (lock: Lock | null) => {
      resolve(lock !== null);
      if (lock) await aborted(signal);
    };
    navigator.locks.request(`cinch-stream-${place}`, { ifAvailable: true }, held).catch(reject);
  });

/** A request that waits would hold a connection, too. */
async function polled(url: URL, init: RequestInit): Promise<Response> {
  const until = Date.now() + Number(url.searchParams.get("wait")) * 1_000;
  url.searchParams.set("wait", "0");
  // The list has no events that can be asked for. The client loads it after each answer.
  const isList = url.pathname.endsWith("/v1/events");
  for (let isFirst = !url.searchParams.has("since") && !isList; ; isFirst = false) {
    if (!isFirst) await pause(init.signal!);
    if (isList) return Response.json([], { headers: PROTOCOL });
    const response = await fetch(url, init);
    if (!response.ok || Date.now() > until || (await response.clone().text()) !== "[]") return response;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  const ms = document.visibilityState === "visible" ? SHOWN_MS : HIDDEN_MS;
  await Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), aborted(signal)]);
  await Promise.race([rest.awake, aborted(signal)]);
  signal.throwIfAborted();
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
