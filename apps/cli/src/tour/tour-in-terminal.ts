import { runInTerminal, type RunInTerminalOptions } from "../app/run-in-terminal.ts";
import { openProject } from "../setup/open-project.ts";
import { userFolders } from "../setup/user-folders.ts";
import { TourFolder } from "./tour-folder.ts";
import { tourGuide } from "./tour-guide.ts";
import { tourChoice } from "./tour-model.ts";

/** Slow enough to be read, per word. */
const DELAY_MS = 25;

type Options = Omit<RunInTerminalOptions, "project" | "thread" | "stateFolder" | "guide" | "greeting">;

/** The tour with the user at the keys: the app, on a throw-away project. Returns the exit code. */
export async function tourInTerminal(options: Options): Promise<number> {
  using folder = new TourFolder();
  const env = folder.env(options.env);
  const project = await openProject({
    folder: folder.path,
    env,
    flags: { mode: "plan" },
    trusted: true,
    model: tourChoice({ delayMs: DELAY_MS }),
  });
  return await runInTerminal({
    ...options,
    env,
    project,
    thread: { kind: "new" },
    stateFolder: userFolders(env).state,
    guide: tourGuide,
  });
}
