import { spawn } from "node:child_process";

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  // The first argument of start is a title.
  win32: ["cmd", "/c", "start", ""],
};

/** Shows an address in the user's browser. `failed` is called if there is none. */
export function openBrowser(url: string, failed: () => void): void {
  const [command = "", ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.once("error", failed);
  child.once("exit", (code) => (code === 0 || code === null ? undefined : failed()));
  child.unref();
}
