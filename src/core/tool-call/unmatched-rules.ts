import { type ApprovalConfig, type ApprovalRule, matchesGlob } from './approval-policy.ts';

/** A tool server and the names of its tools, which are null while it is not connected. */
export interface KnownServer {
  readonly name: string;
  readonly tools: readonly string[] | null;
}

/** An approval rule that decides about no tool. */
export interface UnmatchedRule {
  /** The rule's place in the agent file, from 0. */
  readonly index: number;
  /** For people. */
  readonly reason: string;
}

/** The rules that match no tool of the servers that are connected. Each is probably misspelt. */
export function unmatchedRules(
  { rules }: ApprovalConfig,
  servers: readonly KnownServer[],
): readonly UnmatchedRule[] {
  return rules.flatMap((rule, index) => {
    const miss = missOf(rule, servers);
    if (miss === undefined) return [];
    const { server, tool, policy } = rule;
    const named = `approval.rules[${index}] (server: ${server}, tool: ${tool}, policy: ${policy})`;
    return [{ index, reason: `${named} matches none of the ${miss}` }];
  });
}

/** What the rule does not match; undefined if it matches something, or may do so later. */
function missOf(
  { server, tool, atRunTime }: ApprovalRule,
  servers: readonly KnownServer[],
): string | undefined {
  const meant = servers.filter(({ name }) => matchesGlob(server, name));
  if (meant.length === 0) {
    const isExpectedLater = atRunTime === true || server === '*';
    return isExpectedLater ? undefined : `tool servers: ${firstOf(servers.map(({ name }) => name))}`;
  }
  const connected = meant.filter(({ tools }) => tools !== null);
  const offered = connected.flatMap(({ tools }) => tools ?? []);
  if (connected.length === 0 || offered.some((name) => matchesGlob(tool, name))) return undefined;
  const names = connected.map(({ name }) => name).join(', ');
  return `${offered.length} tools of ${names}: ${firstOf(offered)}`;
}

const MAX_NAMES = 10;

function firstOf(names: readonly string[]): string {
  if (names.length === 0) return 'there is none';
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}
