import type { AppCommand } from "./command.ts";

/** In the order of `/help`. */
export const appCommands: readonly AppCommand[] = [];
