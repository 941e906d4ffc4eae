const HEADERS = "authorization, content-type, last-event-id, idempotency-key, if-none-match";

/** Lets pages of the allowed origins read answers. */
export function corsHeaders(request: Request, origins: ReadonlySet<string>): [name: string, value: string][] {
  const origin = request.headers.get("origin");
  if (origin === null || !origins.has(origin)) return [];
  return [
    ["access-control-allow-origin", origin],
    [
      "access-control-expose-headers",
      "cinch-protocol, cinch-seq, content-disposition, etag, retry-after, x-request-id",
    ],
    ["vary", "origin, accept-encoding"],
  ];
}

/** The answer to the question of a browser whether a page may send a request. Who may ask is checked before. */
export const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": HEADERS,
      "access-control-max-age": "600",
    },
  });
