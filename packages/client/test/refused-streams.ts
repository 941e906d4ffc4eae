import { faulty, isStream } from "./faults.ts";

/** As the server answers. */
export const refusal = (status: number, code: string): Response =>
  Response.json({ error: { code, message: code } }, { status, headers: { "cinch-protocol": "1" } });

/** A `fetch` whose streams of threads the test cuts, and answers itself as long as `answer` is set. `isForAll`: other requests, too. */
export function refusing() {
  let open = new AbortController();
  const at = { answer: undefined as (() => Response) | undefined, refused: 0, isForAll: false };
  const { fetch } = faulty(async ({ url, init, pass }) => {
    const isOfThread = isStream(init) && url.includes("/threads/");
    if (at.answer && (isOfThread || at.isForAll)) {
      at.refused++;
      return at.answer();
    }
    return isOfThread
      ? globalThis.fetch(url, { ...init, signal: AbortSignal.any([open.signal, init.signal!]) })
      : pass();
  });
  const refuse = (answer: () => Response) => {
    Object.assign(at, { answer, refused: 0 });
    open.abort();
    open = new AbortController();
  };
  return { fetch, at, refuse };
}
