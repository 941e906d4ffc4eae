import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { currentToken, keepToken } from "./token.ts";

export function TokenForm({ onToken }: { onToken: () => Promise<void> }): VNode {
  const [token, setToken] = useState("");
  return (
    <main class="welcome">
      <form
        class="column token"
        onSubmit={(event) => {
          event.preventDefault();
          keepToken(token.trim());
          void onToken();
        }}
      >
        <h1>Cinch</h1>
        <p>
          This server asks for a token. <code>cinch serve</code> prints an address that has one in it; another person
          gets one with <code>cinch token add</code>.
        </p>
        {currentToken() && <p role="alert">The server does not know the token that this browser has.</p>}
        <label>
          Token
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
            autofocus
          />
        </label>
        <button type="submit" class="primary" disabled={token.trim() === ""}>
          Continue
        </button>
      </form>
    </main>
  );
}
