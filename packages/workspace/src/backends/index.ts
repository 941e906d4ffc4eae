/** Backends: in memory, in a folder, in a journal, several under one root; and hooks around any of them. */
export { compositeBackend, type CompositeOptions } from "./composite.ts";
export { directoryBackend, type DirectoryBackend, type DirectoryOptions } from "./directory.ts";
export { storeBackend, threadBackend } from "./journal.ts";
export { memoryBackend } from "./memory.ts";
export { withPolicy, type Access, type PolicyHooks } from "./policy.ts";
