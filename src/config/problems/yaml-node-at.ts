import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import type { Path } from './path.ts';

export interface NodeAt {
  readonly node: Node | undefined;
  /** Offset of its beginning in the text; for the value of a map, of its key. */
  readonly offset: number;
}

/** The node at a path of the document, with aliases followed; if there is none, the nearest node around it. */
export function nodeAt(document: Document, path: Path): NodeAt {
  let found: NodeAt = place(document, document.contents, 0);
  for (const segment of path) {
    const next = child(document, found, segment);
    if (next === undefined) return found;
    found = next;
  }
  return found;
}

function child(document: Document, { node, offset }: NodeAt, segment: string | number): NodeAt | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && key.value === segment);
    return pair && { ...place(document, pair.value, offset), offset: startOf(pair.key) ?? offset };
  }
  if (isSeq(node) && typeof segment === 'number' && segment < node.items.length) {
    return place(document, node.items[segment], offset);
  }
  return undefined;
}

function place(document: Document, value: unknown, fallbackOffset: number): NodeAt {
  const node = isAlias(value) ? value.resolve(document) : value;
  return { node: isNode(node) ? node : undefined, offset: startOf(value) ?? fallbackOffset };
}

function startOf(value: unknown): number | undefined {
  return isNode(value) ? value.range?.[0] : undefined;
}
