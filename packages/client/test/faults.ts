type Send = (url: string, init: RequestInit) => Promise<Response>;

/** What goes wrong with a request. `pass` sends it as it is. */
export type Fault = (request: { url: string; init: RequestInit; pass: () => Promise<Response> }) => Promise<Response>;

/** A `fetch` that lets a test break requests. `seen` has all of them, as `METHOD path`. */
export function faulty(fault: Fault): { fetch: Send; seen: string[] } {
  const seen: string[] = [];
  const send: Send = (url, init) => {
    seen.push(`${init.method} ${new URL(url).pathname.replace(/.*\//, "")}`);
    return fault({ url, init, pass: () => fetch(url, init) });
  };
  return { fetch: send, seen };
}

export const isStream = ({ headers }: RequestInit): boolean =>
  (headers as Record<string, string>)["accept"] === "text/event-stream";

export const cut = (): never => {
  throw new TypeError("fetch failed");
};

/** The stream with its frames changed. `null`: nothing more comes of it, and it does not end. */
export function reframed(response: Response, change: (frame: string) => string | null): Response {
  let rest = "";
  const frames = new TransformStream<string, string>({
    async transform(text, controller) {
      const parts = (rest + text).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) {
        const changed = change(part);
        if (changed === null) await new Promise(() => undefined);
        if (changed) controller.enqueue(`${changed}\n\n`);
      }
    },
  });
  const body = response
    .body!.pipeThrough(new TextDecoderStream())
    .pipeThrough(frames)
    .pipeThrough(new TextEncoderStream());
  return new Response(body, response);
}
