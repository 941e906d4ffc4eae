/** JSON, with the control characters escaped that JSON leaves as they are, so that none reaches a terminal. */
export function terminalJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
