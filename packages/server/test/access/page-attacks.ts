/** A page after its attacks: what it could read. */
export interface AttackWindow {
  readings: string[];
}

/**
 * What a page tries. Runs in a browser, so it uses nothing from outside of itself. It closes nothing that it has opened: a busy browser may
 * send the request of that only later.
 */
export async function attack({ target, threadId }: { target: string; threadId: string }): Promise<void> {
  const readings: string[] = [];
  Object.assign(window, { readings });
  const thread = `${target}/v1/threads/${threadId}`;
  const rename = JSON.stringify({ title: "owned" });
  const at = (url: string, by: string) => `${url}?by=${by}`;

  /** Settles when one of the events happens, or after a while: a browser may block the attack without a word. */
  const settled = (one: EventTarget, ...events: string[]) =>
    new Promise<void>((resolve) => {
      for (const name of events) one.addEventListener(name, () => resolve());
      setTimeout(resolve, 1_000);
    });
  const fetches = async (by: string, url: string, init: RequestInit = {}) => {
    try {
      const response = await fetch(at(url, by), init);
      // A stream does not end.
      const { value } = (await response.body?.getReader().read()) ?? {};
      readings.push(`${by}: ${new TextDecoder().decode(value)}`);
    } catch {
      // The browser keeps the answer from the page.
    }
  };
  const element = async (by: string, tag: string, fields: Record<string, string>) => {
    const one = Object.assign(document.createElement(tag), fields);
    document.body.append(one);
    await settled(one, "load", "error");
    const frame = one as Partial<HTMLIFrameElement>;
    try {
      readings.push(`${by}: ${frame.contentDocument?.documentElement.textContent ?? ""}`);
    } catch {
      // Of another origin.
    }
  };
  const form = async (by: string, url: string, { method, enctype }: { method: string; enctype: string }) => {
    const frame = Object.assign(document.createElement("iframe"), { name: by });
    document.body.append(frame);
    const sent = document.createElement("form");
    Object.assign(sent, { method, enctype, action: at(url, by), target: by });
    // As text/plain, this is JSON.
    sent.append(Object.assign(document.createElement("input"), { name: '{"title":"owned","x":"', value: '"}' }));
    // A form that is sent by GET replaces the query.
    if (method === "get") sent.append(Object.assign(document.createElement("input"), { name: "by", value: by }));
    document.body.append(sent);
    sent.submit();
    await settled(frame, "load");
  };
  const opened = async (one: EventSource | WebSocket, by: string) => {
    one.addEventListener("message", (event) => readings.push(`${by}: ${(event as MessageEvent<string>).data}`));
    one.addEventListener("open", () => readings.push(`${by}: open`));
    await settled(one, "open", "error");
  };
  const asked = (by: string, method: string, url: string) =>
    new Promise<void>((resolve) => {
      const request = new XMLHttpRequest();
      request.open(method, at(url, by));
      request.setRequestHeader("authorization", "Bearer guessed");
      request.addEventListener("loadend", () => {
        if (request.status !== 0) readings.push(`${by}: ${request.responseText}`);
        resolve();
      });
      request.send(method === "GET" ? null : rename);
    });
  const worker = async (by: string, url: string) => {
    const source = `fetch(${JSON.stringify(at(url, by))}).then((r) => r.text()).then(postMessage, () => postMessage(""))`;
    const one = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    one.addEventListener("message", ({ data }: MessageEvent<string>) => readings.push(`${by}: ${data}`));
    await settled(one, "message", "error");
  };
  const popup = async (by: string, url: string) => {
    const one = window.open(at(url, by));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    try {
      readings.push(`${by}: ${one?.document.documentElement.textContent ?? ""}`);
    } catch {
      // Of another origin.
    }
  };

  const json = { "content-type": "application/json" };
  await Promise.all([
    fetches("fetch", `${target}/v1/threads`),
    fetches("fetch-health", `${target}/v1/health`),
    fetches("fetch-opaque", `${target}/v1/threads`, { mode: "no-cors", credentials: "include" }),
    fetches("fetch-events", `${thread}/events`, { headers: { accept: "text/event-stream" } }),
    fetches("fetch-json", `${thread}/renameThread`, { method: "POST", headers: json, body: rename }),
    fetches("fetch-plain", `${thread}/renameThread`, { method: "POST", mode: "no-cors", body: rename }),
    fetches("fetch-form", `${thread}/steer`, { method: "POST", mode: "no-cors", body: new FormData() }),
    fetches("fetch-keepalive", `${thread}/abort`, { method: "POST", mode: "no-cors", keepalive: true, body: "{}" }),
    fetches("fetch-delete", thread, { method: "DELETE" }),
    fetches("fetch-token", `${target}/v1/threads`, { headers: { authorization: "Bearer guessed" } }),
    asked("xhr-get", "GET", `${target}/v1/threads`),
    asked("xhr-post", "POST", `${thread}/renameThread`),
    form("form-get", `${target}/v1/threads`, { method: "get", enctype: "" }),
    form("form-plain", `${thread}/renameThread`, { method: "post", enctype: "text/plain" }),
    form("form-urlencoded", `${thread}/renameThread`, { method: "post", enctype: "application/x-www-form-urlencoded" }),
    form("form-multipart", `${thread}/steer`, { method: "post", enctype: "multipart/form-data" }),
    element("img", "img", { src: at(`${target}/v1/threads`, "img") }),
    element("script", "script", { src: at(`${target}/v1/threads`, "script") }),
    element("module", "script", { type: "module", src: at(`${target}/v1/threads`, "module") }),
    element("style", "link", { rel: "stylesheet", href: at(`${target}/v1/threads`, "style") }),
    element("prefetch", "link", { rel: "prefetch", href: at(`${target}/v1/threads`, "prefetch") }),
    element("iframe", "iframe", { src: at(`${target}/v1/threads`, "iframe") }),
    element("object", "object", { data: at(`${target}/v1/threads`, "object") }),
    element("video", "video", { src: at(`${thread}/blobs/${"0".repeat(64)}`, "video") }),
    opened(new EventSource(at(`${thread}/events`, "event-source")), "event-source"),
    opened(new EventSource(at(`${target}/v1/events`, "event-source-list")), "event-source-list"),
    opened(new WebSocket(at(`${thread}/events`, "web-socket").replace("http", "ws")), "web-socket"),
    worker("worker", `${target}/v1/threads`),
    popup("popup", `${target}/v1/threads`),
  ]);
  navigator.sendBeacon(at(`${thread}/renameThread`, "beacon"), rename);
  navigator.sendBeacon(at(`${thread}/renameThread`, "beacon-json"), new Blob([rename], { type: "application/json" }));
}
