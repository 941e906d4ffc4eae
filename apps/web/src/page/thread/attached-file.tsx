import type { FilePart } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSeat } from "../page-context.ts";
import { withVisibleSigns } from "../ui/format.ts";
import { Link } from "../text/markdown.tsx";

/** Pictures that a browser draws without running anything in them. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function AttachedFile({ file }: { file: FilePart }): VNode {
  const name = withVisibleSigns(file.filename ?? file.mediaType);
  if (file.url !== undefined) return <Link href={file.url}>{name}</Link>;
  return PICTURES.has(file.mediaType) && file.blob !== undefined ? (
    <Picture hash={file.blob} mediaType={file.mediaType} name={name} />
  ) : (
    <span class="file">{name}</span>
  );
}

function Picture({ hash, mediaType, name }: { hash: string; mediaType: string; name: string }): VNode {
  const seat = useSeat();
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    let made: string | null = null;
    let isGone = false;
    const load = async () => {
      const file = await seat.readBlob({ hash });
      if (!file || isGone) return;
      made = URL.createObjectURL(new Blob([new Uint8Array(file.bytes)], { type: mediaType }));
      setUrl(made);
    };
    load().catch(() => {});
    return () => {
      isGone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [seat, hash, mediaType]);
  return url ? <img class="picture" src={url} alt={name} /> : <span class="file">{name}</span>;
}
