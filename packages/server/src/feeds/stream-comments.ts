import { encodeText } from "./frames.ts";

/** A comment, which clients skip. */
export const HEARTBEAT = encodeText(": \n\n");
/** A client reconnects after a second. */
export const GOODBYE = encodeText("retry: 1000\n\n");
