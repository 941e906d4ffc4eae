import type { MayRole, Who } from "../access/who.ts";
import { HttpError } from "../http/http-error.ts";

/** Throws 403 for a caller that has neither of the roles. */
export function checkRole({ may }: Who, role: MayRole, or: MayRole = role): void {
  if (may.includes(role) || may.includes(or)) return;
  throw new HttpError(403, "PERMISSION_DENIED", `This needs the role "${role}".`, { reason: "role" });
}
