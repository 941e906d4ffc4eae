import { connect, type Client, type ServerInfo } from "@cinch/client";
import { render } from "preact";
import { PageRoot } from "./page-root.tsx";
import { TokenForm } from "./token-form.tsx";
import { tabFetch } from "./tab-fetch.ts";
import { currentToken, takeToken } from "./token.ts";

const root = document.querySelector("#app")!;

/** Connects, or asks for a token. */
async function begin(): Promise<void> {
  takeToken();
  // Another tab may be given another one.
  const client = connect({ url: location.origin, fetch: tabFetch, token: () => currentToken() ?? "" });
  try {
    show(client, await client.init());
  } catch (error) {
    client.close();
    const code = (error as { code?: string }).code;
    if (code === "UNAUTHENTICATED") return render(<TokenForm onToken={begin} />, root);
    render(
      <main class="welcome">
        <h1>Cinch can't be reached</h1>
        <p>{(error as Error).message}</p>
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      </main>,
      root,
    );
  }
}

const show = (client: Client, info: ServerInfo): void => render(<PageRoot client={client} info={info} />, root);

// An address that is pasted into the tab of an open page changes the fragment, and loads nothing.
addEventListener("hashchange", () => takeToken() && location.reload());
void begin();
