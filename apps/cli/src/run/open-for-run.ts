import { openProject } from "../setup/open-project.ts";
import type { Project } from "../setup/project.ts";
import { isTrustedFolder, whatNeedsTrust } from "../setup/trust.ts";
import { plain } from "../terminal/sanitise.ts";
import type { DriveOptions } from "./drive.ts";
import type { Printer } from "./printer.ts";

/** Opens the current folder, and prints what the user must know about it. It never asks whether to trust it. */
export async function openForRun(
  { flags, trust, json, recover }: DriveOptions & { recover?: "all" },
  printer: Printer,
): Promise<Project> {
  const place = { folder: process.cwd(), env: process.env };
  const trusted = trust || isTrustedFolder(place);
  const ignored = trusted ? [] : whatNeedsTrust(place);
  const project = await openProject({ ...place, flags, trusted, ...(recover && { recover }) });
  if (project.model.fallback && !json)
    printer.note("model: offline (rule-based, built in; set a provider's key or give --model for a real one)");
  if (ignored.length > 0)
    printer.note(
      `this folder is not trusted, so these are not read: ${ignored.join(", ")} (to trust it, start cinch here once; for one run, give --trust)`,
    );
  if (!json) for (const note of project.notes) printer.note(`note: ${plain(note)}`);
  return project;
}
