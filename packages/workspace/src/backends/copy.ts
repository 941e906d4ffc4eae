/** A copy of bytes, or of a range of them. `slice` is not one: that of a `Buffer` shares its memory. */
export const copyOf = (bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array =>
  new Uint8Array(bytes.subarray(start, end));
