/* oxlint-disable no-control-regex -- bytes as characters */
const CHARACTER = /[\u00c2-\u00df][\u0080-\u00bf]|[\u00e0-\u00ef][\u0080-\u00bf]{2}|[\u00f0-\u00f4][\u0080-\u00bf]{3}/g;
const BEGUN = /(?:[\u00c2-\u00f4]|[\u00e0-\u00f4][\u0080-\u00bf]|[\u00f0-\u00f4][\u0080-\u00bf]{2})$/;

/**
 * For a locale without UTF-8, such as C: each byte is a letter. But most terminals send UTF-8 whatever the locale is, so bytes that are a
 * character of UTF-8 become that character.
 */
export class LetterDecoder {
  #begun: Uint8Array = new Uint8Array();

  /** The bytes at the end may be the beginning of a character. Without more bytes, `decode()` returns them as letters. */
  get isHolding(): boolean {
    return this.#begun.length > 0;
  }

  decode(bytes: Uint8Array = new Uint8Array(), { stream = false }: { stream?: boolean } = {}): string {
    const all = Buffer.concat([this.#begun, bytes]);
    const held = stream ? (BEGUN.exec(all.toString("latin1"))?.[0].length ?? 0) : 0;
    this.#begun = all.subarray(all.length - held);
    const text = all.subarray(0, all.length - held).toString("latin1");
    let decoded = "";
    let done = 0;
    for (const { 0: found, index } of text.matchAll(CHARACTER)) {
      decoded += lettersOf(text.slice(done, index)) + characterOf(found);
      done = index + found.length;
    }
    return decoded + lettersOf(text.slice(done));
  }
}

const letters = new TextDecoder("latin1");
const lettersOf = (text: string): string => letters.decode(Buffer.from(text, "latin1"));

function characterOf(found: string): string {
  const character = Buffer.from(found, "latin1").toString("utf8");
  return character.includes("\ufffd") ? lettersOf(found) : character;
}
