/** For clients of a server, in a browser or elsewhere: the parts of a session that need no schemas and no store. */
export { CinchError, type ErrorCode } from "./errors.ts";
export { durableDisplay, newDisplayState, reduceDisplay } from "./folds/display.ts";
export { CommandQueue } from "./thread/command-queue.ts";
export { EventQueue, readerOf } from "./thread/event-queue.ts";
export { randomIds } from "./ports/ids.ts";
export { ThreadChanges } from "./ports/thread-changes.ts";
