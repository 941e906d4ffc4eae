/** How much of a file is examined to tell its kind. */
export const SNIFFED_BYTES = 8_192;

/** The kinds for which a model has a program at hand. */
const SIGNATURES: Readonly<Record<string, string>> = {
  "7f454c46": "an ELF program or library",
  "504b0304": "a zip archive (also: jar, docx, xlsx)",
  "1f8b": "gzip data",
  "53514c69746520666f726d6174203300": "an SQLite database",
};

/** What a file is by its first bytes; `undefined` if it is text in UTF-8. */
export function binaryKind(beginning: Uint8Array): string | undefined {
  const hex = Buffer.from(beginning.subarray(0, 16)).toString("hex");
  if (/^(fffe|feff)/.test(hex)) return "text in UTF-16";
  if (!beginning.includes(0)) return undefined;
  const signature = Object.keys(SIGNATURES).find((one) => hex.startsWith(one));
  return signature === undefined ? "data of an unknown kind" : SIGNATURES[signature];
}
