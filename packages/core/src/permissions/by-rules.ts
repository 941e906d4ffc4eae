/** The `by` of an answer that came from rules: they changed, so that the call no longer asks. */
export const BY_RULES = "rules";
