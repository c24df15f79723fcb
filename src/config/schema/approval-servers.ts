import { z } from 'zod';

const ServerNames = z.record(z.string(), z.unknown()).transform((servers) => Object.keys(servers));
const Rules = z.object({ rules: z.array(z.unknown()) }).transform(({ rules }) => rules);
const NamingRule = z.object({ server: z.string(), atRunTime: z.literal(false).optional() });

/**
 * Reports the approval rules that name a tool server which the file does not have. Such a rule guards nothing. A pattern
 * with `*` or `?` is no name. The check also runs where other parts of the file are wrong, so it parses what it reads.
 */
export function checkRuleServers(
  file: { readonly mcpServers: unknown; readonly approval: unknown },
  context: z.RefinementCtx,
): void {
  const names = ServerNames.safeParse(file.mcpServers).data;
  if (names === undefined) return;
  const rules = Rules.safeParse(file.approval).data ?? [];
  for (const [index, rule] of rules.entries()) {
    const server = NamingRule.safeParse(rule).data?.server;
    if (server === undefined || /[*?]/.test(server) || names.includes(server)) continue;
    const known = names.length === 0 ? 'there is none' : names.join(', ');
    context.addIssue({
      code: 'invalid_value',
      path: ['approval', 'rules', index, 'server'],
      values: names,
      input: server,
      message: `must be a server of mcpServers (${known}), or atRunTime: true beside it if clients connect the server later`,
    });
  }
}
