import { join } from "node:path";
import { askedProcess } from "../asked-process.mjs";

/** A worker or a front, with the commands of `live-process.mjs`. */
export const peer = () => askedProcess(join(import.meta.dirname, "live-process.mjs"));
