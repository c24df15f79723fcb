import { type Document, isMap, isScalar, type Pair } from 'yaml';

/**
 * Finds tool servers that were pasted from another MCP client: under `servers`, as VS Code has them, or with their own
 * `mcpServers` around them. Changes the document, so that every value keeps its line.
 */
export function findPastedServers(document: Document): void {
  const root = document.contents;
  if (!isMap(root)) return;
  if (!root.has('mcpServers')) rename(pairOf(root.items, 'servers'));
  const servers = pairOf(root.items, 'mcpServers');
  const block = servers?.value;
  if (!servers || !isMap(block) || block.items.length !== 1) return;
  const inner = (pairOf(block.items, 'mcpServers') ?? pairOf(block.items, 'servers'))?.value;
  if (isMap(inner) && inner.items.every(({ value }) => isMap(value))) servers.value = inner;
}

function rename(pair: Pair | undefined): void {
  if (isScalar(pair?.key)) pair.key.value = 'mcpServers';
}

function pairOf(items: readonly Pair[], name: string): Pair | undefined {
  return items.find(({ key }) => isScalar(key) && key.value === name);
}
