/**
 * Changes whenever a fold, a lift or anything that they import changes. Folded state that was saved under another fingerprint is
 * thrown away. `npm run fingerprint` writes it, `npm run check` refuses one that is out of date.
 */
export const FOLDS_FINGERPRINT = "88b9467dd8a1be8e";
