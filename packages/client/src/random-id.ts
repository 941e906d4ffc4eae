/** 80 random bits, in characters that a path may have. `randomIds` of core makes thousands at a time; a client makes one for a command. */
export const randomId = (kind: "thread" | "input" | "call"): string =>
  `${kind}_${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => (byte & 31).toString(32)).join("")}`;
