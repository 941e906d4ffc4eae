import { join } from "node:path";
import { askedProcess } from "../asked-process.mjs";

/** Clients with the commands of `client-process.mjs`, in a process of their own, so that what they cost is not counted for the server. */
export const clients = () => askedProcess(join(import.meta.dirname, "client-process.mjs"));
