import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Input, InputFile } from "@cinch/core";

/** The input that a prompt of an editor means: its text, the resources that it mentions, and its files. */
export function inputOfPrompt(blocks: readonly ContentBlock[]): Pick<Input, "content" | "files"> {
  const texts: string[] = [];
  const files: InputFile[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case "text":
        texts.push(block.text);
        break;
      case "resource_link":
        texts.push(`[${block.name}](${block.uri})`);
        break;
      case "image":
      case "audio":
        files.push({ mediaType: block.mimeType, data: block.data });
        break;
      case "resource": {
        const { resource } = block;
        if ("text" in resource)
          texts.push(`<resource uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</resource>`);
        else files.push({ mediaType: resource.mimeType ?? "application/octet-stream", data: resource.blob });
      }
    }
  }
  return { content: texts.join("\n"), ...(files.length > 0 ? { files } : {}) };
}
