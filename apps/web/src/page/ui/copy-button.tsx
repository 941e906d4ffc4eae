import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useCommand } from "../page-context.ts";
import { copyText } from "./clipboard.ts";

export function CopyButton({ text }: { text: string }): VNode {
  const run = useCommand();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" class="quiet" onClick={() => run(copy)}>
      {copied ? "Copied" : "Copy"}
    </button>
  );
}
