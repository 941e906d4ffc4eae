import type { MayRole, Who } from "../access/who.ts";
import { HttpError } from "../http/http-error.ts";

/** Throws 403. */
export function checkRole({ may }: Who, role: MayRole): void {
  if (!may.includes(role))
    throw new HttpError(403, "PERMISSION_DENIED", `This needs the role "${role}".`, { reason: "role" });
}
