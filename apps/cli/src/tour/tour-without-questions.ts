import type { HarnessEvent, Session } from "@cinch/core";
import { TOUR_REQUEST } from "@cinch/web";
import { ExitCode } from "../exit.ts";
import { cinch } from "../invocation.ts";
import { Shutdown } from "../run/shutdown.ts";
import { openTourProject } from "./open-tour-project.ts";
import { storyLines } from "./story-lines.ts";
import { TourFolder } from "./tour-folder.ts";

type Print = (line: string) => void;

/** The tour where there is no terminal: it answers the questions itself, prints what happens, and returns the exit code. */
export async function tourWithoutQuestions(print: Print): Promise<number> {
  // A signal must end the process by an exit, at which the folder is removed.
  using _ = new Shutdown();
  using folder = new TourFolder();
  print("Cinch: a two-minute tour. There is no terminal here, so the tour answers the questions itself.");
  print("The model follows a script. The harness, the files, the commands and the database are real.");
  const project = await openTourProject(folder, { env: process.env, delayMs: 0 });
  try {
    for (const note of project.notes) print(`(${note})`);
    const session = await project.harness.createSession();
    await session.createThread({ title: "Tour" });
    return await tell(session, { folder, print });
  } finally {
    await project.close();
  }
}

async function tell(session: Session, { folder, print }: { folder: TourFolder; print: Print }): Promise<number> {
  const { seq } = session.getDisplayState();
  const answers: Promise<void>[] = [];
  const off = session.subscribe((event) => {
    for (const line of storyLines(event)) print(line);
    answers.push(answer(session, event));
  });
  print(`\nYou: ${TOUR_REQUEST}`);
  const { reason, error } = await session.sendMessage({ content: TOUR_REQUEST });
  off();
  await Promise.all(answers);
  if (reason !== "complete")
    return failed(print, `the turn ended with "${reason}"${error ? `: ${error.message}` : ""}`);
  return undo(session, { seq, folder, print });
}

async function undo(session: Session, { seq, folder, print }: { seq: number; folder: TourFolder; print: Print }) {
  const changes = await session.diff();
  if (changes.length === 0) return failed(print, "no file was changed");
  print("\nAnd back: the rewind reverts the conversation and the files.");
  const { messages, files } = await session.rewind({ toSeq: seq, files: true });
  for (const { path, outcome } of files) print(`  ${outcome} ${path}`);
  print(`  ${messages} messages reverted; the journal keeps them`);
  if (!folder.isUntouched()) return failed(print, "a file is not as it was");
  print("  every file is as it was before");
  print(
    `\nThe same with you at the keys: ${cinch}, in a terminal. For scripts: ${cinch} run "…". All commands: ${cinch} --help`,
  );
  return ExitCode.complete;
}

/** As a user who approves everything. */
async function answer(session: Session, event: HarnessEvent): Promise<void> {
  if (event.type === "tool_approval_required") {
    const { toolCallId, digest } = event;
    await session.respondToToolApproval({ toolCallId, digest, decision: "approve" });
  }
  if (event.type === "tool_suspended" && event.toolName === "submit_plan") {
    const { toolCallId, seq } = event;
    await session.respondToToolSuspension({ toolCallId, seq, resumeData: { action: "approved" } });
  }
}

function failed(print: Print, why: string): number {
  print(`The tour failed: ${why}. Please report it, with the output of ${cinch} doctor.`);
  return ExitCode.error;
}
