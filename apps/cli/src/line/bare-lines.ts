import type { Clock } from "@cinch/core";
import { bareDialog } from "../app/bare-dialog.ts";
import type { AskPanel } from "../app/show-panel.ts";
import type { KeyDialog } from "../setup/add-key.ts";
import { short } from "../terminal/sanitise.ts";
import { askInLines } from "./ask-in-lines.ts";
import { LineAsker } from "./line-asker.ts";
import { LineOutput } from "./line-output.ts";
import type { LineInput, LineSink } from "./line-port.ts";
import { LineReader, type TypedText } from "./line-reader.ts";

interface BareLinesOptions {
  input: LineInput;
  output: LineSink;
  unicode: boolean;
  clock: Clock;
}

/** Asks before there is an app. Ctrl-C and the end of the input close what is asked. */
export class BareLines {
  readonly #options: BareLinesOptions;
  /** What is typed is read only if something is asked: otherwise it is for the app. */
  #reader: LineReader | undefined;
  readonly #output: LineOutput;
  readonly #asker: LineAsker;
  #isEnded = false;

  constructor(options: BareLinesOptions) {
    const { input, output: sink, unicode, clock } = options;
    this.#options = options;
    const canHide = input.setRaw !== undefined;
    this.#output = new LineOutput({ sink, unicode, echoes: canHide });
    this.#asker = new LineAsker({ reader: () => this.#reader!, output: this.#output, clock, canHide });
    process.on("SIGINT", this.#end);
  }

  readonly ask: AskPanel = async (panel, state) => {
    if (this.#isEnded) return undefined;
    this.#reader ??= this.#read();
    const { unicode, clock } = this.#options;
    return askInLines(this.#asker, { panel, state }, { unicode, now: clock.now() });
  };

  readonly dialog: KeyDialog = bareDialog(this.ask, (message) => this.#output.say(message));

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#end);
    this.#output.end();
    this.#reader?.[Symbol.dispose]();
  }

  #read(): LineReader {
    const { input, clock } = this.#options;
    const on = (typed: TypedText) => {
      this.#output.entered();
      if (this.#asker.give(typed) === "ahead")
        this.#output.say(`Not sent, because it was typed before this question was shown: ${short(typed.text)}`);
    };
    return new LineReader({ input, clock, on, onInterrupt: this.#end, onEnd: this.#end });
  }

  readonly #end = (): void => {
    this.#isEnded = true;
    this.#asker.close();
  };
}
