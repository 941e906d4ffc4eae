import { saying, type Skill } from "./intent.ts";

const WHO = "I am the offline model that comes with Cinch: rule-based, without a network, and not intelligent.";

const HELP = `${WHO} I answer from fixed rules, but the tools that I call are real. Try:

    what time is it and what is 3*7?       two tools at once
    count to 5 with the counter tool       five steps, one after the other (add "slowly")
    wait 20 seconds, then roll two dice    something to interrupt: Ctrl-C, or kill -9 and --continue
    count the words in "to be or not"      another tool
    list the files · read package.json     the files of this folder
    search for "TODO"                      in all of them
    run node --version                     a command, which you approve first
    write "hello" to hello.txt             an edit, which you approve first
    ask me which colour I like             a question to you
    my name is Ada                         later: what is my name? what did I say first?
    remember that …                        later: what do you remember?
    tell me a story                        a longer answer, to watch it stream
    say …                                  I repeat it

With a key in the environment, --model anthropic/…, openai/… or google/… talks to a real one.`;

const STORY =
  "Once there was a process that kept a diary. Before it did anything, it wrote down what it was about to do, and when it was done, " +
  "it wrote down how that had gone. The others laughed: so much writing for so little work! One night the power failed in the " +
  "middle of a word. In the morning a second process came in, found the diary, and read it to the last line. It did not ask what had " +
  "happened, and it did not begin again. It saw what was finished and left it alone. It saw what was half done and said so. " +
  "Then it picked up the pen, and went on with the next sentence. Nobody who read the diary later could tell where the night had been, " +
  "except for one honest line: here I do not know.";

/** Repeats everything after "say". */
export const repeating: Skill = (text) => {
  const words = text.match(/^\s*(?:please )?(?:say|repeat|echo)(?: after me)?:?\s+(.+)$/is)?.[1];
  return words && !/^my [a-z ]+$/i.test(words) ? saying(words) : undefined;
};

const rules: readonly [RegExp, string][] = [
  [/^\W*(?:help|what can you do|what do you do|commands)\b/i, HELP],
  [/\b(?:who|what) are you\b|\bare you (?:real|intelligent|an ai|a model)\b/i, WHO],
  [/\bstory\b/i, STORY],
  [/^\W*(?:hi|hello|hey|good (?:morning|evening|day))\b/i, `Hello! ${WHO} Say "help" to see what I can do.`],
  [/\b(?:thanks|thank you)\b/i, "You are welcome."],
  [/^\W*(?:stop|never mind|cancel|enough)\b/i, "All right, I stopped."],
  [/^\W*(?:bye|goodbye|see you)\b/i, "Goodbye. Everything we said is kept."],
];

export const talk: readonly Skill[] = rules.map(([pattern, answer]) => (clause) => {
  return pattern.test(clause) ? saying(answer) : undefined;
});

export const unclear = (text: string): string =>
  `${WHO} I have no rule for "${text.length > 200 ? `${text.slice(0, 200)}…` : text}". Say "help" to see what I can do.`;
