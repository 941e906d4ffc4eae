/** For anything but a string. */
const VALUE_BYTES = 8;

/** About how many bytes an event takes in memory. The texts of strings are not looked at, so that a long one costs no more than a short one. */
export function weightOf(event: object): number {
  let bytes = 0;
  const open: unknown[] = [event];
  while (open.length > 0) {
    const value = open.pop();
    bytes += typeof value === "string" ? value.length : VALUE_BYTES;
    if (typeof value === "object" && value !== null) for (const field of Object.values(value)) open.push(field);
  }
  return bytes;
}
