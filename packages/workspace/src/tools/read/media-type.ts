import { nameOf } from "../../paths.ts";

/** Files that are given to models as they are, by extension. */
const MEDIA: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  mpg: "video/mpeg",
  mov: "video/quicktime",
  avi: "video/x-msvideo",
  flv: "video/x-flv",
  webm: "video/webm",
  wmv: "video/x-ms-wmv",
  "3gpp": "video/3gpp",
  wav: "audio/wav",
  mp3: "audio/mpeg",
  aiff: "audio/aiff",
  aac: "audio/aac",
  ogg: "audio/ogg",
  flac: "audio/flac",
  pdf: "application/pdf",
  ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

export const MEDIA_EXTENSIONS = Object.keys(MEDIA);

export function mediaTypeOf(path: string): string | undefined {
  const name = nameOf(path);
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return name.includes(".") && Object.hasOwn(MEDIA, extension) ? MEDIA[extension] : undefined;
}
