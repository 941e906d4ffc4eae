import type { Panel } from "../views/panel.ts";
import type { LineAsker } from "./line-asker.ts";

export const lineContext = (now: number, unicode: boolean) => ({ width: Infinity, now, unicode });

interface AskOptions<State> {
  unicode: boolean;
  now: number;
  /** Called with each state, for what has to be loaded for it. */
  load?: (state: State) => Promise<State>;
}

/** Asks what a panel asks. `undefined`: the user closed it. */
export async function askInLines<State, Choice>(
  asker: LineAsker,
  { panel, state: first }: { panel: Panel<State, Choice>; state: State },
  { unicode, now, load = async (state) => state }: AskOptions<State>,
): Promise<Choice | undefined> {
  let state = first;
  for (;;) {
    state = await load(state);
    const step = await asker.ask(panel.inLines(state, lineContext(now, unicode)));
    if (step === undefined) return undefined;
    if (step.kind === "choice") return step.choice;
    if (step.kind === "state") state = step.state;
  }
}
