import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** A second click or key that was meant for the last question comes sooner. */
const FRESH_MS = 400;
const SOON_MS = 1_000;

/** Whether a question has just taken the place of another one. Until a person can have seen it, it takes no answer. */
export function useFresh(key: string): boolean {
  const shown = useRef({ key: "", until: -Infinity });
  const [settled, setSettled] = useState("");
  const isNext = key !== "" && key !== shown.current.key && performance.now() - shown.current.until < SOON_MS;
  const fresh = useRef("");
  if (isNext) fresh.current = key;
  if (key !== "") shown.current = { key, until: performance.now() };
  useLayoutEffect(() => {
    // The last one was drawn until now.
    if (key === "" && shown.current.key !== "") shown.current.until = performance.now();
    if (fresh.current !== key) return;
    const timer = setTimeout(() => setSettled(key), FRESH_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return key !== "" && fresh.current === key && settled !== key;
}
