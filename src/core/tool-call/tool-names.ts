/** A tool of a server. */
export interface ToolAddress {
  readonly serverId: string;
  readonly toolName: string;
}

/** Providers accept only `^[a-zA-Z0-9_-]{1,64}$`. Google refuses names that begin with a digit or a hyphen, too. */
const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 7;
const ACCEPTABLE = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Gives each tool the name by which the model knows it: its own name if that is unique and allowed, otherwise
 * `server__tool`, and that with a hash if another tool could have it, too. Nobody gets a reserved name. The order of the
 * tools does not matter, so a name changes only when a tool comes or goes whose name meets it.
 */
export function nameToolsForModel<T extends ToolAddress>(
  tools: readonly T[],
  reserved: ReadonlySet<string> = NOTHING,
): Map<string, T> {
  const bareCounts = countBy(tools, bareName);
  const hasBareName = (tool: T): boolean =>
    bareCounts.get(bareName(tool)) === 1 && !reserved.has(bareName(tool));
  const others = tools.filter((tool) => !hasBareName(tool));
  const fullCounts = countBy(others, fullName);
  const names = new Map<string, T>();
  const isTaken = (name: string): boolean =>
    names.has(name) || reserved.has(name) || bareCounts.get(name) === 1;
  const otherName = (tool: T): string => {
    const full = fullName(tool);
    if (fullCounts.get(full) === 1 && !isTaken(full)) return full;
    let source = `${tool.serverId}\n${tool.toolName}`;
    while (isTaken(withHash(full, source)) || fullCounts.has(withHash(full, source))) source += '\n';
    return withHash(full, source);
  };
  for (const tool of tools) names.set(hasBareName(tool) ? bareName(tool) : otherName(tool), tool);
  return names;
}

function bareName({ toolName }: ToolAddress): string {
  return acceptableToolName(toolName);
}

function fullName({ serverId, toolName }: ToolAddress): string {
  return acceptableToolName(`${serverId}__${toolName}`);
}

/** The name itself if every provider accepts it, or one made from it. Models invent names that no provider accepts. */
export function acceptableToolName(name: string): string {
  if (ACCEPTABLE.test(name)) return name;
  const replaced = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?=[0-9-])/, '_');
  return replaced.length <= MAX_NAME_LENGTH && replaced !== '' ? replaced : withHash(replaced, name);
}

function withHash(name: string, source: string): string {
  return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}_${fnv1a(source)}`;
}

/** FNV-1a, 32 bits, in seven base-36 digits: enough to tell the few names apart that collide. */
function fnv1a(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash.toString(36).padStart(HASH_LENGTH, '0');
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}
