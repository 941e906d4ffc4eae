import { backendConformance } from "@cinch/testkit";
import { directoryBackend, memoryBackend } from "@cinch/workspace";
import { Outputs } from "../../src/outputs/outputs.ts";
import { withOwnFolders } from "../../src/backends/own-folders.ts";
import { TemporaryFolder, reach } from "../temporary-folder.ts";

backendConformance("memory with outputs of commands", async () => {
  const place = await TemporaryFolder.make();
  const backend = withOwnFolders(memoryBackend(), new Outputs(place.at("outputs")));
  return { backend, reach, inMemory: true, dispose: () => place[Symbol.asyncDispose]() };
});

backendConformance("a directory with outputs of commands", async () => {
  const place = await TemporaryFolder.make();
  const backend = withOwnFolders(directoryBackend({ root: place.path }), new Outputs());
  return { backend, reach, dispose: () => place[Symbol.asyncDispose]() };
});
