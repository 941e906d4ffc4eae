import { spawn } from "node:child_process";
import type { TerminalOutput } from "./terminal-port.ts";

/** What a terminal takes at a time differs; most take this much. */
const MOST_BYTES = 74_000;
const TIMEOUT_MS = 2_000;

interface ClipboardOptions {
  output: Pick<TerminalOutput, "writeNow">;
  env: Record<string, string | undefined>;
  platform?: NodeJS.Platform;
}

/** `how`: the program that took the text, or `terminal`, which may ignore it without an answer. */
export type Copied = { ok: true; how: string } | { ok: false; reason: string };

/** Writes the clipboard of the person at the terminal: by a program of this machine, or by the terminal if that is elsewhere. */
export async function copyToClipboard(text: string, options: ClipboardOptions): Promise<Copied> {
  for (const [command, ...args] of programs(options))
    if (await pipe(command!, args, text)) return { ok: true, how: command! };
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES)
    return { ok: false, reason: `${bytes} bytes are too many for the terminal; install xclip, xsel or wl-copy` };
  options.output.writeNow(osc52(text, options.env));
  return { ok: true, how: "terminal" };
}

/** OSC 52. tmux hands it on to the terminal around it only in an envelope. */
function osc52(text: string, env: ClipboardOptions["env"]): string {
  const sequence = `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
  return env["TMUX"] ? `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\${sequence}` : sequence;
}

/** Over SSH, the programs of this machine have another clipboard than the person. */
function programs({ env, platform = process.platform }: ClipboardOptions): string[][] {
  if (env["SSH_CONNECTION"] || env["SSH_TTY"]) return [];
  if (platform === "darwin") return [["pbcopy"]];
  if (platform === "win32" || env["WSL_DISTRO_NAME"]) return [["clip.exe"]];
  if (env["WAYLAND_DISPLAY"]) return [["wl-copy"]];
  return env["DISPLAY"]
    ? [
        ["xclip", "-selection", "clipboard"],
        ["xsel", "-b", "-i"],
      ]
    : [];
}

/** Whether the program took the text. */
function pipe(command: string, args: readonly string[], text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "ignore"], timeout: TIMEOUT_MS });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    // A program that ends before it has read all says so by its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });
}
