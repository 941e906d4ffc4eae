/** What an agent says: a paragraph, a list and code. */
export const ANSWER = `Sessions live in \`src/session.ts\`, and the cookie is set by \`src/login.ts\`. A session without an end counted as **expired**.

- \`expired()\` checks for \`null\` first.
- The test covers guests, and a session that ends now.

\`\`\`ts
export function expired(session: Session, now: number): boolean {
  if (session.expiresAt === null) return false;
  return session.expiresAt < now;
}
\`\`\`
`;
