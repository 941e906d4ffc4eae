/** The version of the wire. A client refuses a server of another one. */
export const PROTOCOL = 1;
