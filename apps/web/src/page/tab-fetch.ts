/** A browser has six connections to a server, for all tabs together. Two are left for requests. */
const STREAMS = 4;
const SHOWN_MS = 1_000;
const HIDDEN_MS = 5_000;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * A fetch for a tab of many: some of them stream, and the others ask again and again, with short requests. Without Web Locks, which a page
 * without TLS has on loopback only, every tab streams.
 */
export const tabFetch: Fetch = async (url, init) => {
  const { accept } = init.headers as Record<string, string>;
  if (accept === "text/event-stream") return streamed(url, init);
  if (accept === "application/json") return polled(new URL(url), init);
  return fetch(url, init);
};

async function streamed(url: string, init: RequestInit): Promise<Response> {
  if (!("locks" in navigator)) return fetch(url, init);
  for (let place = 0; place < STREAMS; place++) if (await takePlace(place, init.signal!)) return fetch(url, init);
  const error = { code: "TOO_MANY", message: "Other tabs have the connections." };
  return Response.json({ error }, { status: 429, headers: { "cinch-protocol": "1" } });
}

/** The client aborts the signal of every request when it is over. */
const takePlace = (place: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const over = new Promise<void>((end) => (signal.aborted ? end() : signal.addEventListener("abort", () => end())));
    const held = async (lock: Lock | null) => {
      resolve(lock !== null);
      if (lock) await over;
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
    if (isList) return Response.json([], { headers: { "cinch-protocol": "1" } });
    const response = await fetch(url, init);
    if (!response.ok || Date.now() > until || (await response.clone().text()) !== "[]") return response;
  }
}

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, document.visibilityState === "visible" ? SHOWN_MS : HIDDEN_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
