type IdKind = "thread" | "turn" | "message" | "input" | "call";
export type Ids = (kind: IdKind) => string;

const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";

const LENGTH = 16;
const pool = /* @__PURE__ */ new Uint8Array(64 * LENGTH);
let remaining = 0;

/** 80 random bits: short, because every event contains ids. A pool is used because `getRandomValues` is slow per call. */
export const randomIds: Ids = (kind) => {
  if (remaining === 0) {
    crypto.getRandomValues(pool);
    remaining = pool.length;
  }
  let id = `${kind}_`;
  for (let n = 0; n < LENGTH; n++) id += LETTERS[pool[--remaining]! & 31];
  return id;
};
