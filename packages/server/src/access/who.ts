/** What a caller may do. No role includes another. */
export const ROLES = ["read", "talk", "approve", "manage"] as const;
export type MayRole = (typeof ROLES)[number];

/** The caller of a request, as `authenticate` names it. */
export interface Who {
  /** Whose threads the caller reaches; default: those of the harness's own resource. */
  resourceId?: string;
  /** The name that the events of the caller's commands get. */
  by?: string;
  may: readonly MayRole[];
  /** Aborted when the caller loses access: its streams end at once. */
  signal?: AbortSignal;
}

/** Returns `null` for a caller that it does not know. */
export type Authenticate = (request: Request) => Who | null | Promise<Who | null>;

/** The same for all requests of one caller. Limits and seats are kept by it. */
export const callerKey = ({ resourceId, by }: Who): string => JSON.stringify([resourceId ?? null, by ?? null]);
