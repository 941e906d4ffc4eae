import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { CinchError } from "@cinch/core";
import type { AcpOptions } from "../cli-command.ts";
import { messageOf } from "../error-message.ts";
import { ExitCode } from "../exit.ts";
import { Shutdown } from "../run/shutdown.ts";
import { openProject } from "../setup/open-project.ts";
import type { Project } from "../setup/project.ts";
import { isTrustedFolder, whatNeedsTrust } from "../setup/trust.ts";
import { plain } from "../terminal/sanitise.ts";
import { AcpAgent } from "./acp-agent.ts";

/** `cinch acp`: the agent for an editor, on stdin and stdout. What a person should know goes to stderr. */
export async function acp({ flags, trust }: AcpOptions): Promise<number> {
  using shutdown = new Shutdown();
  const projects = new Map<string, Promise<Project>>();
  const note = (text: string) => process.stderr.write(`cinch: ${plain(text)}\n`);

  async function open(folder: string): Promise<Project> {
    const place = { folder, env: process.env };
    const trusted = trust || isTrustedFolder(place);
    const ignored = trusted ? [] : whatNeedsTrust(place);
    const project = await openProject({ ...place, flags, trusted });
    for (const text of project.notes) note(text);
    if (ignored.length > 0) note(`${folder} is not trusted, so these are not read: ${ignored.join(", ")}`);
    return project;
  }

  function projectOf(cwd: string): Promise<Project> {
    const folder = folderOf(cwd);
    const opened = projects.get(folder) ?? open(folder);
    projects.set(folder, opened);
    opened.catch(() => projects.delete(folder));
    return opened;
  }

  const opened = () => Promise.allSettled(projects.values());
  const agent = new AcpAgent({
    project: async (cwd) => projectOf(cwd),
    projects: async () => (await opened()).flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
    failed: (error) => note(messageOf(error)),
  });
  const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connection = agent.app().connect(ndJsonStream(output, input));
  shutdown.onInterrupt(() => shutdown.close(ExitCode.aborted));
  const code = await Promise.race([connection.closed.then(() => ExitCode.complete), shutdown.closed]);
  await agent.close();
  for (const one of await opened()) if (one.status === "fulfilled") await one.value.close();
  return code;
}

/** The folder that an editor names. Throws `INVALID_INPUT`. */
function folderOf(cwd: string): string {
  if (isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(cwd);
  throw new CinchError("INVALID_INPUT", `cwd must be the absolute path of a folder, and "${cwd}" is not.`);
}
