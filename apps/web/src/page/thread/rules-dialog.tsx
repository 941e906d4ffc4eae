import type { Policy, Rule, ToolCategory } from "@cinch/core";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useCommand, useSeat } from "../page-context.ts";
import { Modal } from "../ui/modal.tsx";

const CATEGORIES: readonly ToolCategory[] = ["read", "edit", "execute", "mcp", "other"];
const POLICIES: readonly Policy[] = ["allow", "ask", "deny"];

/** What may run in this thread without a question. */
export function RulesDialog({ onClose }: { onClose: () => void }): VNode {
  const seat = useSeat();
  const run = useCommand();
  const [rules, setRules] = useState(() => seat.getPermissionRules());
  const [grants, setGrants] = useState(() => seat.getSessionGrants());
  // Other people change them, too. An event that does not leaves the same objects.
  const read = () => {
    setRules(seat.getPermissionRules());
    setGrants(seat.getSessionGrants());
  };
  useEffect(() => {
    read();
    return seat.subscribe(read);
  }, [seat]);
  const policyOf = (category: ToolCategory) =>
    rules.findLast((rule) => rule.category === category && rule.match === undefined)?.policy ?? "";
  return (
    <Modal title="Rules of this thread" onClose={onClose}>
      <table class="rules">
        <tbody>
          {CATEGORIES.map((category) => (
            <tr key={category}>
              <th scope="row">{category}</th>
              <td>
                <select
                  aria-label={`Policy for ${category}`}
                  value={policyOf(category)}
                  onChange={({ currentTarget }) =>
                    run(() => seat.setPermissionForCategory({ category, policy: currentTarget.value as Policy }))
                  }
                >
                  <option value="" disabled>
                    as configured
                  </option>
                  {POLICIES.map((policy) => (
                    <option key={policy}>{policy}</option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <RuleList title="Other rules" rules={rules.filter(({ category }) => category === undefined)} />
      <RuleList title="Allowed in this session" rules={grants} />
    </Modal>
  );
}

const RuleList = ({ title, rules }: { title: string; rules: readonly Rule[] }): VNode | null =>
  rules.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul class="files">
        {rules.map(({ toolName, category, match, policy }, at) => (
          <li key={at}>
            {policy}: {toolName ?? category} {match !== undefined && <code>{match}</code>}
          </li>
        ))}
      </ul>
    </>
  );
