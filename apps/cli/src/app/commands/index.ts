/** The commands of the composer, a file each. */
import { agentsCommand } from "./agents.ts";
import { backgroundCommand } from "./background.ts";
import { budgetCommand } from "./budget.ts";
import { cloneCommand } from "./clone.ts";
import type { AppCommand } from "./command.ts";
import { compactCommand } from "./compact.ts";
import { contextCommand } from "./context.ts";
import { copyCommand } from "./copy.ts";
import { costCommand } from "./cost.ts";
import { diffCommand } from "./diff.ts";
import { exportCommand } from "./export.ts";
import { helpCommand } from "./help.ts";
import { initCommand } from "./init.ts";
import { laterCommand } from "./later.ts";
import { memoryCommand } from "./memory.ts";
import { modeCommand } from "./mode.ts";
import { modelCommand } from "./model.ts";
import { newCommand } from "./new.ts";
import { permissionsCommand } from "./permissions.ts";
import { quitCommand } from "./quit.ts";
import { renameCommand } from "./rename.ts";
import { resumeCommand } from "./resume.ts";
import { rewindCommand } from "./rewind.ts";
import { skillsCommand } from "./skills.ts";
import { tasksCommand } from "./tasks.ts";
import { threadsCommand } from "./threads.ts";
import { yoloCommand } from "./yolo.ts";

const listed: readonly AppCommand[] = [
  newCommand,
  threadsCommand,
  resumeCommand,
  renameCommand,
  cloneCommand,
  rewindCommand,
  diffCommand,
  laterCommand,
  modeCommand,
  modelCommand,
  permissionsCommand,
  yoloCommand,
  tasksCommand,
  agentsCommand,
  backgroundCommand,
  skillsCommand,
  memoryCommand,
  contextCommand,
  costCommand,
  budgetCommand,
  compactCommand,
  copyCommand,
  initCommand,
  exportCommand,
];

/** In the order of `/help`. */
export const appCommands: readonly AppCommand[] = [...listed, helpCommand(() => appCommands), quitCommand];
