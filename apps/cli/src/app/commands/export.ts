import { writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { messageOf } from "../../error-message.ts";
import { exportFrom } from "../../export/index.ts";
import type { ExportFormat } from "../../command-table.ts";
import { expandedHome } from "../../setup/user-folders.ts";
import type { AppCommand } from "./command.ts";

const EXTENSIONS: Readonly<Record<ExportFormat, string>> = { markdown: "md", json: "json", html: "html" };
const FORMATS = Object.keys(EXTENSIONS) as ExportFormat[];

export const exportCommand: AppCommand = {
  name: "export",
  description: "write the thread to a file",
  argument: "[markdown|json|html] [FILE]",
  async run(argument, context) {
    const { project, session } = context;
    const record = await project.store.thread(session.getCurrentThreadId() ?? "");
    if (!record) return context.say("There is no thread to export yet.");
    const wanted = argument.trim();
    if (isUnknownFormat(wanted))
      return context.say(
        `There is no format "${wanted}", only ${FORMATS.join(", ")}. For a file of this name: /export markdown ${wanted}`,
      );
    const { format, file = `${nameFor(record.title)}.${EXTENSIONS[format]}` } = parsed(wanted);
    const path = resolve(project.folder, expandedHome(file, project.env));
    const problem = written(path, { text: await exportFrom(project.store, record, format), format });
    if (problem !== undefined) return context.say(problem);
    context.say(`The thread is in ${relative(project.folder, path)}, as ${format}. Only you can read the file.`);
  },
};

/** One word is meant as a format: the name of a file would have an extension or a folder. */
const isUnknownFormat = (word: string): boolean => /^\w+$/.test(word) && !FORMATS.some((format) => format === word);

function parsed(argument: string): { format: ExportFormat; file?: string } {
  const [word = "", ...rest] = argument.split(/\s+/);
  const named = FORMATS.find((format) => format === word);
  const file = named ? argument.slice(word.length).trim() : argument;
  const byName = FORMATS.find((format) => file.endsWith(`.${EXTENSIONS[format]}`));
  const format = named ?? byName ?? "markdown";
  return file === "" || (named !== undefined && rest.length === 0) ? { format } : { format, file };
}

/** Letters and digits of the title, so that it is a good name everywhere. */
function nameFor(title: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return `thread-${words.join("-")}`.slice(0, 60).replace(/-$/, "");
}

/** A thread may hold secrets, so only its owner may read the file. A file that is there is not replaced. */
function written(path: string, { text, format }: { text: string; format: ExportFormat }): string | undefined {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return `${path} exists already. Give another name: /export ${format} FILE`;
    return `The thread was not exported: ${messageOf(error)}`;
  }
}
