import { appendFileSync, chmodSync } from "node:fs";
import { dirname } from "node:path";
import { PRIVATE_FILE } from "../composer/private-file.ts";
import { readSmallFile } from "./small-file.ts";
import { writeInState } from "./state-folder.ts";

/** In the user's state folder: lines of JSON that several processes add to. Each is appended in one write, so no process loses the line of another. */
export class RecordFile {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** A line that a crash cut, or another program wrote, is no record. */
  read(): unknown[] {
    return (readSmallFile(this.#file) ?? "").split("\n").flatMap((line) => {
      try {
        return line === "" ? [] : [JSON.parse(line) as unknown];
      } catch {
        return [];
      }
    });
  }

  add(record: object): void {
    writeInState(dirname(this.#file), () => {
      // It begins with a line break, because a crash may have cut the line before it.
      appendFileSync(this.#file, `\n${JSON.stringify(record)}\n`, { mode: PRIVATE_FILE });
      chmodSync(this.#file, PRIVATE_FILE);
    });
  }
}
