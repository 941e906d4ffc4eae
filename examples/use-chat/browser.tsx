/** What Next does with a page: loads its data, and shows it. */
import { createRoot } from "react-dom/client";
import Page from "./page.tsx";

const id = "my-chat";
const messages = await fetch(`/v1/chat/${id}/messages?v=7`).then((response) => response.json());
createRoot(document.querySelector("#root")!).render(<Page id={id} messages={messages} />);
