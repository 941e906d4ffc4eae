export const DELTAS_A_SECOND = 200;
/** Of most providers, a delta is a word or a part of one. */
export const DELTA_CHARS = 5;
