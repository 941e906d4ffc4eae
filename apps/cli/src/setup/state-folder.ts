import { makePrivateFolder } from "../composer/private-file.ts";
import { systemReasonOf } from "../error-message.ts";

const NOT_PERMITTED = new Set(["EACCES", "EPERM", "EROFS"]);

/** Makes a folder below the user's state folder, and writes in it. If either is not possible, the error says what to do. */
export function writeInState(folder: string, write: () => void): void {
  try {
    makePrivateFolder(folder);
  } catch (error) {
    throw unwritable(folder, error);
  }
  changeInState(folder, write);
}

/** For a folder that is there, or whose absence `change` reports. */
export function changeInState(folder: string, change: () => void): void {
  try {
    change();
  } catch (error) {
    throw NOT_PERMITTED.has((error as NodeJS.ErrnoException).code ?? "") ? unwritable(folder, error) : error;
  }
}

const unwritable = (folder: string, cause: unknown): Error =>
  new Error(
    `${folder} can't be made or written (${systemReasonOf(cause)}). Make it writable, or name another folder with XDG_STATE_HOME.`,
    { cause },
  );
