import { runInTerminal, type RunInTerminalOptions } from "../app/run-in-terminal.ts";
import { userFolders } from "../setup/user-folders.ts";
import { openTourProject, READABLE_MS } from "./open-tour-project.ts";
import { TourFolder } from "./tour-folder.ts";
import { tourGuide } from "./tour-guide.ts";

type Options = Omit<RunInTerminalOptions, "project" | "thread" | "stateFolder" | "guide" | "greeting">;

/** The tour with the user at the keys: the app, on a throw-away project. Returns the exit code. */
export async function tourInTerminal(options: Options): Promise<number> {
  using folder = new TourFolder();
  const env = folder.env(options.env);
  const project = await openTourProject(folder, { env: options.env, delayMs: READABLE_MS });
  return await runInTerminal({
    ...options,
    env,
    project,
    thread: { kind: "new" },
    stateFolder: userFolders(env).state,
    guide: tourGuide,
  });
}
