import type { VNode } from "preact";
import { useState } from "preact/hooks";

export function CopyButton({ text }: { text: string }): VNode {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      {copied ? "Copied" : "Copy"}
    </button>
  );
}
