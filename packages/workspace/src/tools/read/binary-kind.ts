/** How much of a file is looked at to tell what it is. */
export const SNIFFED_BYTES = 8_192;

const SIGNATURES: readonly [bytes: string, what: string][] = [
  ["7f454c46", "an ELF program or library"],
  ["4d5a", "a Windows program or library"],
  ["cffaedfe", "a macOS program or library"],
  ["cafebabe", "a Java class or a macOS program"],
  ["0061736d", "a WebAssembly module"],
  ["504b0304", "a zip archive (also: jar, docx, xlsx)"],
  ["504b0506", "an empty zip archive"],
  ["1f8b", "gzip data"],
  ["425a68", "bzip2 data"],
  ["fd377a585a00", "xz data"],
  ["28b52ffd", "zstd data"],
  ["377abcaf271c", "a 7-Zip archive"],
  ["53514c69746520666f726d6174203300", "an SQLite database"],
  ["89504e47", "a PNG image"],
  ["ffd8ff", "a JPEG image"],
  ["47494638", "a GIF image"],
  ["424d", "a BMP image"],
  ["49492a00", "a TIFF image"],
  ["4d4d002a", "a TIFF image"],
  ["00000100", "an icon"],
  ["25504446", "a PDF document"],
  ["774f4646", "a web font"],
  ["774f4632", "a web font"],
  ["00010000", "a TrueType font"],
  ["4f54544f", "an OpenType font"],
  ["d0cf11e0", "an old Office document"],
];

/** What a file is by its beginning, if it is not text. */
export function binaryKind(beginning: Uint8Array): string | undefined {
  const bytes = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  const utf16 = bytes.subarray(0, 2).toString("hex");
  if (utf16 === "fffe" || utf16 === "feff") return "text in UTF-16";
  // No text in UTF-8 holds a zero byte.
  if (!bytes.includes(0)) return undefined;
  const hex = bytes.subarray(0, 16).toString("hex");
  if (bytes.subarray(257, 262).toString("latin1") === "ustar") return "a tar archive";
  return SIGNATURES.find(([signature]) => hex.startsWith(signature))?.[1] ?? "data of an unknown kind";
}
