/** Where files can live: in memory, in a folder, in several places under one root; and rules around any of them. */
export { compositeBackend, type CompositeOptions } from "./composite.ts";
export { directoryBackend, type DirectoryBackend, type DirectoryOptions } from "./directory.ts";
export { storeBackend, threadBackend } from "./journal.ts";
export { memoryBackend } from "./memory.ts";
export { withPolicy, type Access, type PolicyHooks } from "./policy.ts";
