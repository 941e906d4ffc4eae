import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

const FILE = "fonts/Open_Sans/OpenSans-Regular.ttf";
/** A tar is headers and files, in blocks. */
const BLOCK = 512;

/** A style by which the page looks the same on every machine: its letters are those of the font that comes with the browser. */
export function pictureFont(): string {
  const font = fileIn(
    brotliDecompressSync(readFileSync(new URL("../bin/fonts.tar.br", import.meta.resolve("@sparticuz/chromium")))),
  );
  const source = `url(data:font/ttf;base64,${font.toString("base64")})`;
  return `@font-face { font-family: Kept; src: ${source}; } * { font-family: Kept !important; }`;
}

function fileIn(tar: Buffer): Buffer {
  for (let at = 0; at < tar.length;) {
    const name = tar.toString("latin1", at, at + 100).replace(/\0.*$/s, "");
    const size = parseInt(tar.toString("latin1", at + 124, at + 136), 8) || 0;
    if (name.endsWith(FILE)) return tar.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error(`The browser comes without ${FILE}. See what its package has in bin/.`);
}
