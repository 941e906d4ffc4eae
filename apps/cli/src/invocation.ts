/** The command by which this program was started, so that the commands it prints can be typed. */
export const cinch = invocationOf(process.env["npm_lifecycle_event"]);

function invocationOf(event: string | undefined): string {
  if (event === "start") return "npm start --";
  return event === "npx" ? "npx cinch" : "cinch";
}
