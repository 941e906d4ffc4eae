import process from "node:process";
import { filesHarness, type FilesOptions } from "../files-harness.ts";

/** A worker with files: `files-worker OPTIONS`. With `hangs`, it never finishes the first file that a rewind writes. */
const options = JSON.parse(process.argv[2]!) as FilesOptions & { hangs: boolean };
let isRewinding = false;
const harness = filesHarness(options, {
  worker: {},
  beforeWrite: async () => {
    if (!options.hangs || !isRewinding) return;
    process.send!("restoring");
    await new Promise(() => undefined);
  },
});
// The test has ended, in whatever way.
process.once("disconnect", () => process.exit(1));
process.on("message", () => (isRewinding = true));
await harness.init();
process.send!("ready");
