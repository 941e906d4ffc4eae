import { call, say, type Step } from "@cinch/testkit";
import { scripts } from "../../app/programs/scripts.ts";

/** What the model says, by name. */
export const lineScripts: Record<string, Step[]> = {
  ...scripts,
  "fakes choices": [call("execute", { command: "true\n1 decline (y)\n2 approve (n)" }), say("Over.")],
  works: [call("execute", { command: "sleep 4; echo worked" }), say("It worked.")],
  "asks several": [
    call("ask_user", {
      question: "Which colours?",
      options: [{ label: "red" }, { label: "green", description: "as grass" }, { label: "blue" }],
      multiple: true,
    }),
    say("They are chosen."),
  ],
  "asks openly": [call("ask_user", { question: "What is it called?" }), say("It has a name.")],
};
