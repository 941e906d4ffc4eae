export type IdKind = "thread" | "turn" | "message" | "input" | "call";
export type Ids = (kind: IdKind) => string;

const LETTERS = "0123456789abcdefghjkmnpqrstvwxyz";

const LENGTH = 16;
const pool = new Uint8Array(64 * LENGTH);
let left = 0;

/** 80 random bits: short, because ids stand in every event. Asking for randomness is slow, so it is asked for in stock. */
export const randomIds: Ids = (kind) => {
  if (left === 0) {
    crypto.getRandomValues(pool);
    left = pool.length;
  }
  let id = `${kind}_`;
  for (let n = 0; n < LENGTH; n++) id += LETTERS[pool[--left]! & 31];
  return id;
};
