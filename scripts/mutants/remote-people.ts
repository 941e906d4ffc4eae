import { inPackage } from "./mutant.ts";

/** What a server relies on: sessions that are confined to a resource, and events that say who gave a command. */
export const remotePeople = inPackage("packages/core", [
  {
    attacks: "confinement: a session reaches threads of other resources",
    file: "thread/reachable-threads.ts",
    find: "this.#confinedTo !== null && resourceId !== this.#confinedTo",
    replace: "false",
    tests: ["thread/confined"],
  },
  {
    attacks: "confinement: the harness does not pass it on",
    file: "harness.ts",
    find: "confined ? resourceId : null",
    replace: "null",
    tests: ["thread/confined"],
  },
  {
    attacks: "confinement: a session enters a thread of another resource",
    file: "thread/reachable-threads.ts",
    find: "await this.record(threadId);\n    return this.#registry.acquire",
    replace: "return this.#registry.acquire",
    tests: ["thread/confined"],
  },
  {
    attacks: "confinement: commands and answers reach a thread of another resource",
    file: "thread/reachable-threads.ts",
    find: "await this.record(threadId);\n    return this.#registry.visit",
    replace: "return this.#registry.visit",
    tests: ["thread/confined"],
  },
  {
    attacks: "confinement: a session deletes a thread of another resource",
    file: "thread/reachable-threads.ts",
    find: "await this.record(threadId);\n    await this.#store.deleteThread",
    replace: "await this.#store.deleteThread",
    tests: ["thread/confined"],
  },
  {
    attacks: "confinement: a session lists the threads of another resource",
    file: "thread/reachable-threads.ts",
    find: "if (this.#isOutside(query.resourceId)) return [];",
    replace: "",
    tests: ["thread/confined"],
  },
  {
    attacks: "confinement: a page shows whether a thread of another resource exists",
    file: "thread/reachable-threads.ts",
    find: "if (before && this.#isOutside(before.resourceId)) return [];",
    replace: "",
    tests: ["thread/confined"],
  },
  {
    attacks: "chosen ids: a thread of another resource is entered",
    file: "thread/reachable-threads.ts",
    find: "(await this.#store.thread(threadId))?.resourceId === resourceId",
    replace: "(await this.#store.thread(threadId))",
    tests: ["thread/confined"],
  },
  {
    attacks: "chosen ids: an id may hold a path",
    file: "commands/options.ts",
    find: "/^[A-Za-z0-9_-]{1,128}$/",
    replace: "/^[^ ]{1,128}/",
    tests: ["thread/confined"],
  },
  {
    attacks: "signed commands: an answer names another person than its session",
    file: "commands/answers.ts",
    find: "const { toolCallId, decision, digest } = answer;\n  const by = signed.by ?? answer.by;",
    replace: "const { toolCallId, decision, digest } = answer;\n  const by = answer.by ?? signed.by;",
    tests: ["commands/by"],
  },
  {
    attacks: "signed commands: a person signs an answer of the rules",
    file: "thread/signed-thread.ts",
    find: "{ by, ...event }",
    replace: "{ ...event, by }",
    tests: ["commands/by"],
  },
  {
    attacks: "signed commands: a message does not say who wrote it",
    file: "turn/decide.ts",
    find: "...(by === null ? {} : { by })",
    replace: "",
    tests: ["commands/by"],
  },
]);
