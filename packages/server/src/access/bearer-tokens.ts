import { createHash } from "node:crypto";
import type { Authenticate, Who } from "./who.ts";

/** A caller, and the SHA-256 of its token. The token itself is stored nowhere. */
export interface TokenHolder extends Who {
  sha256: string;
}

export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex");

/** Knows a caller by `Authorization: Bearer TOKEN`. `holders` is called for each request, so tokens can be added and revoked. */
export function bearerTokens(holders: () => readonly TokenHolder[]): Authenticate {
  return (request) => {
    const [, token] = /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return null;
    const sha256 = tokenHash(token);
    const found = holders().find((one) => one.sha256 === sha256);
    if (!found) return null;
    const { sha256: _, ...who } = found;
    return who;
  };
}
