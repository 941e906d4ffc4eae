import { optionsSchema } from "@cinch/core/options";
import * as z from "zod/mini";

/** Ids that are part of a path. */
export const PathId = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, "_" or "-"'));

const NOT_HTTPS = "must be a URL that begins with https:";
const HttpsUrl = z.string().check(
  z.regex(/^https:\/\/[^\s]+$/, NOT_HTTPS),
  z.refine((url) => URL.canParse(url), NOT_HTTPS),
);
const Base64 = z.string().check(z.regex(/^[A-Za-z0-9+/]*={0,2}$/, "must be base64"));
/** What a header may say: the type of a file can have parameters, such as `text/plain; charset=utf-8`. */
export const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?: *; *[\w.+-]+=(?:[\w.+-]+|"[ !#-[\]-~]*"))*$/;
const FileFields = {
  mediaType: z.string().check(z.regex(MEDIA_TYPE, 'must be a media type like "image/png"')),
  filename: z.optional(z.string()),
};
const WireFile = z.union([
  z.strictObject({ ...FileFields, data: Base64 }),
  z.strictObject({ ...FileFields, url: HttpsUrl }),
]);
export type WireFile = z.infer<typeof WireFile>;

/** Of one message. */
export const MOST_FILES = 100;
/** The length is checked before the files, because to check a file takes far longer than to send it. */
const WireFiles = z.pipe(
  z.transform((files: unknown, { issues }) => {
    if (!Array.isArray(files) || files.length <= MOST_FILES) return files;
    issues.push({ code: "custom", input: files, message: `must be at most ${MOST_FILES} files` });
    return z.NEVER;
  }),
  z.array(WireFile),
);

const input = { content: z.string(), id: z.optional(PathId), files: z.optional(WireFiles) };
export const WireInput = z.strictObject(input);
export type WireInput = z.infer<typeof WireInput>;
const { at } = optionsSchema("followUp").shape;
export const WireFollowUp = z.strictObject({ ...input, at });
export type WireFollowUp = z.infer<typeof WireFollowUp>;
const ONLY_FOLLOW_UP = { path: ["at"], error: 'is only for the delivery "follow_up"' };
export const WirePost = z
  .strictObject({ ...input, at, delivery: optionsSchema("post").shape.delivery })
  .check(z.refine((value) => value.at === undefined || value.delivery === "follow_up", ONLY_FOLLOW_UP));

/** Who answers is the caller: it is not a field. */
export const WireApproval = z.omit(optionsSchema("respondToToolApproval"), { by: true });
export const WireSuspension = z.omit(optionsSchema("respondToToolSuspension"), { by: true });
/** The source is in the path. */
export const WireClone = z.omit(optionsSchema("cloneThread"), { sourceThreadId: true });
export const NoBody = z.strictObject({});

/** Numbers of a query, which arrive as text. */
const wholeNumber = z.pipe(
  z.pipe(
    z.string().check(z.regex(/^\d{1,15}$/, "must be a whole number")),
    z.transform((digits) => Number(digits)),
  ),
  z.int().check(z.gte(0)),
);
export const QuerySeq = z.optional(wholeNumber);
export const queryLimit = (most: number) =>
  z.optional(
    z.pipe(wholeNumber, z.int().check(z.gte(1, "must be at least 1"), z.lte(most, `must be at most ${most}`))),
  );
export const MAX_WAIT = 25;
/** In seconds. */
export const QueryWait = z.optional(
  z.pipe(wholeNumber, z.int().check(z.gte(0), z.lte(MAX_WAIT, `must be at most ${MAX_WAIT}`))),
);
