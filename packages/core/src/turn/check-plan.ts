import type { ContextPlan, ContextView, Cut } from "../ports/memory.ts";

/** Throws if a plan would cut a step in two, which would part calls from their results, or leave a gap between blocks. */
export function checkPlan({ cut, observe }: ContextPlan, view: ContextView): void {
  const { boundaries, blocks, buffered, fromSeq } = view;
  const steps = boundaries.map(({ seq }) => seq);
  const [starts, ends] = [0, 1].map((at) => blocks.map(({ range }) => range[at as 0 | 1]));
  if (observe && !steps.includes(observe[1])) throw notAnEnd("observe", observe[1]);
  if (!cut) return;
  const allowed = cut.kind === "activate" ? buffered.map(({ range }) => range[1]) : [...ends!, ...steps];
  if (!allowed.includes(endOf(cut))) throw notAnEnd(cut.kind, endOf(cut));
  if (cut.kind === "activate" || [...starts!, fromSeq].includes(cut.range[0])) return;
  throw new Error(`The range of "${cut.kind}" begins at ${cut.range[0]}, neither with a block nor after the blocks.`);
}

const endOf = (cut: Cut): number => (cut.kind === "activate" ? cut.toSeq : cut.range[1]);

const notAnEnd = (kind: string, seq: number): Error =>
  new Error(`The range of "${kind}" ends at ${seq}, which is not the end of a step or of a block.`);
