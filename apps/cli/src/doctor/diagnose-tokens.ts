import { statSync } from "node:fs";
import { TokenFolder } from "../serve/token-folder.ts";
import type { FolderOfUser } from "../setup/trust.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Who may reach the folder over HTTP. Most folders have no tokens, and then there is nothing to say. */
export function diagnoseTokens(place: FolderOfUser): Diagnosis[] {
  const area = "tokens";
  const tokens = new TokenFolder(place);
  const people = tokens.list().map(({ name }) => name);
  const exposed = tokens.files().filter((file) => (statSync(file).mode & 0o077) !== 0);
  return [
    ...(people.length > 0 ? [{ area, status: "ok", message: people.join(", ") } as const] : []),
    ...exposed.map(
      (file) =>
        ({
          area,
          status: "warn",
          message: `${file} can be changed or read by others`,
          next: `chmod 600 ${file}`,
        }) as const,
    ),
  ];
}
