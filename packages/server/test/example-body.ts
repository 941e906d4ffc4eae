/** A body that the route accepts. */
export function exampleBody(path: string): unknown {
  const name = path.split("/").at(-1)!;
  const bodies: Record<string, unknown> = {
    post: { content: "x", delivery: "send" },
    steer: { content: "x" },
    followUp: { content: "x" },
    editInput: { inputId: "i", content: "x" },
    removeInput: { inputId: "i" },
    respondToToolApproval: { decision: "approve" },
    respondToToolSuspension: { resumeData: null },
    switchMode: { modeId: "default" },
    switchModel: { modelId: "m" },
    setPermissionForTool: { toolName: "t", policy: "allow" },
    setPermissionForCategory: { category: "edit", policy: "allow" },
    grantSessionTool: { toolName: "t" },
    grantSessionCategory: { category: "edit" },
    renameThread: { title: "x" },
    rewind: { toSeq: 1 },
  };
  return bodies[name] ?? {};
}
