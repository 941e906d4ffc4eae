import { call, say, type Step } from "@cinch/testkit";
import { scripts } from "../../app/programs/scripts.ts";

/** Takes as long as the test lets it. */
const WORK = "until [ -e gate ]; do sleep 0.05; done; echo worked";

/** What the model says, by name. */
export const lineScripts: Record<string, Step[]> = {
  ...scripts,
  "fakes choices": [call("execute", { command: "true\n1 decline (y)\n2 approve (n)" }), say("Over.")],
  works: [call("execute", { command: WORK }), say("It worked.")],
  counts: [call("execute", { command: "seq 1 60" }), say("Counted."), say("Heard.")],
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
