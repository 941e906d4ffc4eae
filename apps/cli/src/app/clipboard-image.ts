import { spawn } from "node:child_process";
import { imageOf, type Attachment } from "../composer/attachments.ts";
import type { Env } from "../models/providers.ts";

const TIMEOUT_MS = 5_000;
/** More than any provider takes: the size is checked afterwards, with its own message. */
const MAX_READ = 64 * 1024 * 1024;
const POWERSHELL =
  "Add-Type -AssemblyName System.Windows.Forms,System.Drawing; $i=[Windows.Forms.Clipboard]::GetImage(); if($i){$m=New-Object IO.MemoryStream; $i.Save($m,[Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray())}";

interface Reader {
  command: readonly [string, ...string[]];
  base64?: boolean;
  /** How to get the program. */
  install: string;
}

/** The image in the clipboard of the person at the terminal, or why there is none. */
export async function clipboardImage(env: Env, platform: NodeJS.Platform = process.platform): Promise<Attachment> {
  const reader = readerFor(env, platform);
  if (typeof reader === "string") return { kind: "refused", reason: reader };
  const read = await outputOf(reader.command);
  if (read === "missing")
    return {
      kind: "refused",
      reason: `An image is read from the clipboard by ${reader.command[0]}: ${reader.install}.`,
    };
  const bytes = reader.base64 ? Buffer.from(read.toString("latin1"), "base64") : read;
  if (bytes.length === 0)
    return { kind: "refused", reason: "The clipboard holds no image. To paste text, use the terminal's own key." };
  return imageOf(new Uint8Array(bytes));
}

function readerFor(env: Env, platform: NodeJS.Platform): Reader | string {
  if (env["SSH_CONNECTION"] || env["SSH_TTY"])
    return "Over SSH, the clipboard of your machine can't be read. Copy the image here, and type or drag its path.";
  if (platform === "darwin") return { command: ["pngpaste", "-"], install: "brew install pngpaste" };
  if (platform === "win32" || env["WSL_DISTRO_NAME"])
    return {
      command: ["powershell.exe", "-NoProfile", "-STA", "-Command", POWERSHELL],
      base64: true,
      install: "it is a part of Windows",
    };
  if (env["WAYLAND_DISPLAY"]) return { command: ["wl-paste", "--type", "image/png"], install: "install wl-clipboard" };
  if (env["DISPLAY"])
    return { command: ["xclip", "-selection", "clipboard", "-t", "image/png", "-o"], install: "install xclip" };
  return "There is no clipboard here. Type or drag the path of an image.";
}

/** What the program printed; nothing if it failed, because that is how these programs say that there is no image. */
function outputOf([command, ...args]: Reader["command"]): Promise<Buffer | "missing"> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"], timeout: TIMEOUT_MS });
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_READ) child.kill();
      else chunks.push(chunk);
    });
    child.once("error", () => resolve("missing"));
    child.once("close", (code) => resolve(code === 0 ? Buffer.concat(chunks) : Buffer.alloc(0)));
  });
}
