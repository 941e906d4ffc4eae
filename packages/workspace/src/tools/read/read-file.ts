import { defineTool, type ToolContext } from "@cinch/core";
import * as z from "zod";
import type { Stat } from "../../backend.ts";
import { FileError } from "../../file-error.ts";
import { readPolicy } from "../../path-rules/index.ts";
import { judgedAsFile } from "../judged.ts";
import { nameOf, shown } from "../../paths.ts";
import { collect } from "../../contents/collect.ts";
import { pathInput, reachOf, readContents, READS, type FileToolDeps } from "../file-tool-deps.ts";
import { RESULT_CHARS } from "../list/listing.ts";
import { lookupFile } from "../lookup/lookup.ts";
import { binaryKind, SNIFFED_BYTES } from "./binary-kind.ts";
import { MEDIA_EXTENSIONS, mediaTypeOf } from "./media-type.ts";
import { LINE_CHARS, numbered, numberedLine } from "./numbered-line.ts";
import { scanLines, type ScannedLine } from "./scan-lines.ts";

const LIMIT = 2_000;
/** How much of a line is shown when only that line is requested. */
const PIECE_CHARS = 50_000;
const MEDIA_MIB = 10;
const MEDIA_BYTES = MEDIA_MIB * 1024 * 1024;

interface Part {
  stat: Stat;
  offset: number;
  limit: number;
  char_offset: number | undefined;
}

export const readFileTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Read a file. The first line of the result says which lines follow and, if there are more, how to get them; then come the lines, numbered as "cat -n" does.
The text after the number and the tab can be given to edit_file as it is. Up to ${LIMIT} lines and ${RESULT_CHARS} characters at a time; a line of more than ${LINE_CHARS} characters is cut and says how to get the rest.
Images, audio, video and documents (${MEDIA_EXTENSIONS.join(", ")}) are shown as they are, up to ${MEDIA_MIB} MiB.`,
    ...READS,
    input: z.object({
      file_path: pathInput(deps, "The file."),
      offset: z.int().min(0).describe("How many lines to skip. Default: 0.").optional(),
      limit: z.int().min(1).describe(`How many lines to read. Default: ${LIMIT}.`).optional(),
      char_offset: z
        .int()
        .min(0)
        .describe(
          `For lines that are too long: read only the line at offset, from this character on (counted from 0), up to ${PIECE_CHARS} characters at a time.`,
        )
        .optional(),
    }),
    ...judgedAsFile(deps, readPolicy),
    execute({ file_path, offset = 0, limit = LIMIT, char_offset }, context) {
      const path = deps.path(file_path);
      // In the queue, so that it shows the result of the edits that were requested before it.
      return deps.queue.run(path, context.signal, async () => {
        // Before the contents: if they change in between, they have another version, and a later write is refused.
        const stat = await lookupFile(deps, path, reachOf(context));
        const { size, version } = stat;
        const mediaType = mediaTypeOf(path);
        if (size > 0 && mediaType !== undefined) return readMedia(deps, { stat, mediaType }, context);
        const content =
          size === 0 ? `${shown(path)} is empty.` : await readText(deps, { stat, offset, limit, char_offset }, context);
        context.files.read(path, version);
        return { content, details: { path, size } };
      });
    },
  });

async function readMedia(
  deps: FileToolDeps,
  { stat, mediaType }: { stat: Stat; mediaType: string },
  context: ToolContext,
) {
  const { path, size, version } = stat;
  if (size > MEDIA_BYTES) {
    const message = `${shown(path)} (${mediaType}) has ${size} bytes; up to ${MEDIA_BYTES} (${MEDIA_MIB} MiB) can be shown. Make a smaller version of it and read that.`;
    throw new FileError("invalid", path, message);
  }
  const data = new Uint8Array(await collect(readContents(deps, { path, end: MEDIA_BYTES }, context)));
  context.files.read(path, version);
  return {
    content: [
      { type: "text" as const, text: `${shown(path)}: ${mediaType}, ${size} bytes` },
      { type: "file" as const, mediaType, data, filename: nameOf(path) },
    ],
    details: { path, size, mediaType },
  };
}

async function readText(deps: FileToolDeps, part: Part, context: ToolContext): Promise<string> {
  const { path, size } = part.stat;
  const kind = binaryKind(await collect(readContents(deps, { path, end: SNIFFED_BYTES }, context)));
  if (kind !== undefined) {
    const message = `${shown(path)} is not text that can be shown: it has ${size} bytes and looks like ${kind}. Look at it with a command that understands it, if there is one.`;
    throw new FileError("invalid", path, message);
  }
  const { char_offset: from } = part;
  return from === undefined ? readLines(deps, part, context) : readPiece(deps, { ...part, from }, context);
}

async function readLines(deps: FileToolDeps, { stat, offset, limit }: Part, context: ToolContext): Promise<string> {
  const lines: string[] = [];
  let chars = 0;
  const total = await scanLines(readContents(deps, stat, context), {
    chars: LINE_CHARS,
    wants: (no) => no >= offset && no < offset + limit && chars < RESULT_CHARS - LINE_CHARS,
    take(line) {
      const text = numberedLine(line);
      chars += text.length + 1;
      lines.push(text);
      return true;
    },
  });
  if (lines.length === 0) throw pastEnd(stat.path, offset, total);
  const end = offset + lines.length;
  const more = end < total ? `; for more call read_file with offset ${end}` : "";
  return [`lines ${offset + 1}-${end} of ${total}${more}`, ...lines, ...remarks(lines)].join("\n");
}

async function readPiece(
  deps: FileToolDeps,
  { stat, offset, from }: { stat: Stat; offset: number; from: number },
  context: ToolContext,
): Promise<string> {
  let line: ScannedLine | undefined;
  const total = await scanLines(readContents(deps, stat, context), {
    chars: PIECE_CHARS,
    from,
    wants: (no) => no === offset,
    take: (one) => ((line = one), true),
  });
  if (!line) throw pastEnd(stat.path, offset, total);
  const { text, chars } = line;
  if (from > 0 && from >= chars) {
    const message = `char_offset ${from} is past the end: line ${offset + 1} of ${shown(stat.path)} has ${chars} characters.`;
    throw new FileError("invalid", stat.path, message);
  }
  const end = from + text.length;
  const more = end < chars ? `; for more call read_file with offset ${offset} and char_offset ${end}` : "";
  const head = `line ${offset + 1} of ${total}, characters ${Math.min(from + 1, end)}-${end} of ${chars}${more}`;
  return [head, numbered(offset, text), ...remarks([text])].join("\n");
}

const pastEnd = (path: string, offset: number, total: number): FileError =>
  new FileError(
    "invalid",
    path,
    `offset ${offset} is past the end: ${shown(path)} has ${total} lines. Call read_file with a smaller offset.`,
  );

const remarks = (lines: readonly string[]): string[] =>
  lines.some((line) => line.includes("\ufffd"))
    ? ["[\ufffd may stand for bytes that are not UTF-8. Then edit_file can't change this file.]"]
    : [];
