import { isSameConfig, type McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';

/** By name. */
export type ServerConfigs = Readonly<Record<string, McpServerConfig>>;

/** How the servers of the agent file differ from those before. By name. */
export interface ServerChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Compares the servers that are not disabled. */
export function changesBetween(former: ServerConfigs, wanted: ServerConfigs): ServerChanges {
  const before = enabledOnly(former);
  const after = enabledOnly(wanted);
  const kept = Object.keys(after).filter((name) => Object.hasOwn(before, name));
  return {
    added: Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
    changed: kept.filter((name) => !isSameConfig(before[name], after[name])),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}

export function enabledOnly(configs: ServerConfigs): ServerConfigs {
  return Object.fromEntries(Object.entries(configs).filter(([, { disabled }]) => disabled !== true));
}
