import type { Project } from "../setup/project.ts";
import { userFolders } from "../setup/user-folders.ts";
import { line, type Line } from "../terminal/line.ts";
import { version } from "../version.ts";

/** The first line of the app. */
export function greetingOf({ folder, env, model }: Project): Line {
  const { home } = userFolders(env);
  const shown = folder === home || folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
  const offline = model.fallback ? " · no API key: the offline model answers" : "";
  return line(`cinch ${version()} · ${shown}${offline}`, { dim: true });
}
