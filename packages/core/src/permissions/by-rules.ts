/** Who answered, where no person did: the rules changed, and the call needs no answer any more. */
export const BY_RULES = "rules";
