import type { Env } from "../models/providers.ts";
import { openProject } from "../setup/open-project.ts";
import type { Project } from "../setup/project.ts";
import type { TourFolder } from "./tour-folder.ts";
import { tourChoice } from "./tour-model.ts";

interface Options {
  /** Of the user. The tour does not see its configuration. */
  env: Env;
  /** How long the model takes for a word. */
  delayMs: number;
}

/** Slow enough to be read, per word. */
export const READABLE_MS = 25;

/** Opens the throw-away project of the tour, with the model that plays its story. */
export const openTourProject = (folder: TourFolder, { env, delayMs }: Options): Promise<Project> =>
  openProject({
    folder: folder.path,
    env: folder.env(env),
    flags: { mode: "plan" },
    trusted: true,
    model: tourChoice({ delayMs }),
  });
