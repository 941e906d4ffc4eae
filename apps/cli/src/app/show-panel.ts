import type { Clock } from "@cinch/core";
import type { Features } from "../terminal/features.ts";
import type { Frame } from "../terminal/frame.ts";
import type { KeyEvent } from "../terminal/keys.ts";
import type { Size } from "../terminal/terminal-port.ts";
import type { Panel } from "../views/panel.ts";
import { GUARD_MS } from "./panel-focus.ts";
import { Surface, type TerminalPort } from "./surface.ts";

/** A terminal on which nothing runs yet. */
export interface BareTerminal {
  terminal: TerminalPort;
  clock: Clock;
  features: Features;
}

/** Asks before there is an app. `undefined`: the user left. */
export type AskPanel = <State, Choice>(panel: Panel<State, Choice>, first: State) => Promise<Choice | undefined>;

/** On a screen. `undefined`: Ctrl-C. What was typed before the question was shown answers nothing. */
export async function showPanel<State, Choice>(
  { terminal, clock, features }: BareTerminal,
  panel: Panel<State, Choice>,
  first: State,
): Promise<Choice | undefined> {
  let state = first;
  const shownAt = clock.now();
  const answer = Promise.withResolvers<Choice | undefined>();
  const frame = ({ columns: width, rows }: Size): Frame => {
    const context = { width, rows: Math.max(1, rows - 1), now: clock.now(), unicode: features.unicode, active: true };
    const { lines: live, cursor } = panel.view(state, context);
    return { print: [], live, cursor };
  };
  const onKey = (event: KeyEvent) => {
    if (event.type === "key" && event.key === "ctrl-c") return answer.resolve(undefined);
    const step = clock.now() - shownAt < GUARD_MS ? ({ kind: "ignored" } as const) : panel.reduce(state, event);
    if (step.kind === "state") state = step.state;
    if (step.kind === "choice") answer.resolve(step.choice);
    surface.screen.draw();
  };
  using surface = new Surface({ terminal, clock, features, frame, onKey });
  surface.screen.draw();
  return await answer.promise;
}
