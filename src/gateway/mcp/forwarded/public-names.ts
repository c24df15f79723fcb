/** Something that a tool server offers under a name. */
export interface NamedOffer {
  readonly serverId: string;
  /** By which the server knows it. */
  readonly name: string;
}

/**
 * Gives everything the name by which MCP clients know it: its own if that is unique, and `server__name` otherwise. A
 * reserved name belongs to the agent.
 */
export function publicNames<T extends NamedOffer>(
  offers: readonly T[],
  reserved: ReadonlySet<string> = new Set(),
): Map<string, T> {
  const counts = new Map<string, number>();
  for (const { name } of offers) counts.set(name, (counts.get(name) ?? 0) + 1);
  const isUnique = ({ name }: T): boolean => counts.get(name) === 1 && !reserved.has(name);
  const names = new Map<string, T>();
  for (const offer of offers) if (isUnique(offer)) names.set(offer.name, offer);
  for (const offer of offers) {
    if (isUnique(offer)) continue;
    let name = `${wordOf(offer.serverId)}__${offer.name}`;
    // Another server may have a tool of this very name, or be called nearly the same.
    while (names.has(name) || reserved.has(name)) name += '_';
    names.set(name, offer);
  }
  return names;
}

/** Names of tool servers may have spaces and other characters that MCP allows in no name of a tool. */
function wordOf(serverId: string): string {
  return serverId.replaceAll(/[^A-Za-z0-9_.-]/g, '_');
}
