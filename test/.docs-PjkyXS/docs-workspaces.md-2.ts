import { backendConformance } from "@cinch/testkit";
import { memoryBackend } from "@cinch/workspace";

const reach = { threadId: "thread", resourceId: "default" };
backendConformance("my backend", async () => {
  const backend = memoryBackend(); // yours, empty
  return { backend, reach, inMemory: true, dispose: async () => {} };
});
