import type { Client, RemoteSession, ServerInfo } from "@cinch/client";
import { useThread } from "@cinch/client/react";
import type { HarnessDisplayState } from "@cinch/core";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { TourChapter } from "../tour-chapter.ts";

/** What every part of the page reaches. */
export interface PageContext {
  client: Client;
  info: ServerInfo;
  /** Shows an error of a command, and says it to screen readers. */
  report: (error: unknown) => void;
  /** Says it in passing. `action` is offered as long as it is shown. */
  notify: (text: string, action?: { label: string; run: () => void }) => void;
  open: (threadId: string | null) => void;
  /** Where a link to a thread leads. */
  addressOf: (threadId: string) => string;
  guide: PageGuide | null;
}

/** Leads a user through the page: the tour does. */
export interface PageGuide {
  hints: Readonly<Record<TourChapter, string>>;
  leave: () => void;
}

const Context = createContext<PageContext | null>(null);
export const PageProvider = Context.Provider;
export const usePage = (): PageContext => useContext(Context)!;

const Seat = createContext<RemoteSession | null>(null);
export const SeatProvider = Seat.Provider;
/** The session at the thread that is shown. */
export const useSeat = (): RemoteSession => useContext(Seat)!;

/** A field of the display: a change of the others draws nothing again. */
export const useField = <Name extends keyof HarnessDisplayState>(name: Name): HarnessDisplayState[Name] =>
  useThread(useSeat(), (display) => display[name]);

/** Whether the server would take such commands of this caller. What it would refuse is not offered. */
export const useMay = (role: "talk" | "approve" | "manage"): boolean => usePage().info.may.includes(role);

/** Runs a command, and reports its failure. */
export function useCommand(): (command: () => Promise<unknown>) => void {
  const { report } = usePage();
  return (command) => void command().catch(report);
}

/** A tour runs commands, so the server has it for callers who may do everything. */
export const hasTour = ({ mounts, may }: ServerInfo): boolean =>
  mounts.includes("tour") && ["read", "talk", "approve", "manage"].every((role) => may.includes(role));
