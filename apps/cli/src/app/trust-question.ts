import { messageOf } from "../error-message.ts";
import { line, text } from "../terminal/line.ts";
import { isTrustedFolder, trustFolder, whatNeedsTrust, type FolderOfUser } from "../setup/trust.ts";
import { choicePanel } from "./choice-panel.ts";
import type { AskPanel } from "./show-panel.ts";

/**
 * Whether the folder is obeyed. Asked where there is something to obey, until the user says yes. `undefined`: the user left.
 */
export async function askTrust(place: FolderOfUser, ask: AskPanel): Promise<boolean | undefined> {
  if (isTrustedFolder(place)) return true;
  const found = whatNeedsTrust(place);
  if (found.length === 0) return false;
  const them = found.length === 1 ? "it" : "them";
  const answer = await ask(choicePanel<"yes" | "no">(), {
    title: [
      line(`${text(place.folder, { reveal: true })} has ${listed(found)}.`),
      line(`Cinch obeys ${them} if you trust this folder. Do you?`, { bold: true }),
    ],
    choices: [
      { id: "no", key: "n", label: `no, do not read ${them}` },
      { id: "yes", key: "y", label: "yes, and remember it" },
    ],
    escape: "no",
    marked: 0,
  });
  if (answer !== "yes") return answer && false;
  try {
    trustFolder(place);
    return true;
  } catch (error) {
    return goOnForNow(messageOf(error), ask);
  }
}

/** The folder is trusted in this run, though the answer is not kept. */
async function goOnForNow(reason: string, ask: AskPanel): Promise<true | undefined> {
  const answer = await ask(choicePanel<"continue">(), {
    title: [
      line(text(reason, { reveal: true })),
      line("The folder is trusted until you leave, and the next start asks again.", { bold: true }),
    ],
    choices: [{ id: "continue", key: "c", label: "continue" }],
    escape: "continue",
    marked: 0,
  });
  return answer && true;
}

const listed = (names: readonly string[]): string =>
  names.length === 1 ? names[0]! : `${names.slice(0, -1).join(", ")} and ${names.at(-1)!}`;
