import type { AnyStateNode, AnyTransitionDefinition, StateValue } from 'xstate';

/** The states that a transition leaves and enters. */
export interface Path {
  /** Innermost first. */
  readonly left: readonly AnyStateNode[];
  /** Outermost first. */
  readonly entered: readonly AnyStateNode[];
  /** Where the machine rests afterwards. */
  readonly leaf: AnyStateNode;
}

/** The path into a machine that begins. */
export function pathIn(root: AnyStateNode): Path {
  const leaf = initialLeaf(root);
  return { left: [], entered: [leaf, ...ancestors(leaf)].toReversed(), leaf };
}

/** The path of a transition while the machine rests in `from`. Without a target, no state is left. */
export function pathOf(from: AnyStateNode, { source, target: [target] = [] }: AnyTransitionDefinition): Path {
  if (!target) return { left: [], entered: [], leaf: from };
  const leaf = initialLeaf(target);
  // The innermost state that has both the source and the target stays.
  const kept = [source, ...ancestors(source)].find((node) => ancestors(target).includes(node));
  const isBelow = (node: AnyStateNode) => node !== kept && !ancestors(kept).includes(node);
  return {
    left: [from, ...ancestors(from)].filter(isBelow),
    entered: [leaf, ...ancestors(leaf)].filter(isBelow).toReversed(),
    leaf,
  };
}

/** @throws Error for a state with something that a transition table cannot express. */
export function refuseUnknown(node: AnyStateNode): void {
  const { type, parent, transitions, always = [], invoke, after, initial, exit } = node;
  const refuse = (what: string): never => {
    throw new Error(`a table has no ${what}: state ${node.id}`);
  };
  if (type === 'parallel' || type === 'history') refuse(`${type} states`);
  if (type === 'final' && parent !== node.machine.root) refuse('final states inside of others');
  if ((type === 'final' || !parent) && exit.length > 0) refuse('exit actions at the end of the machine');
  if (invoke.length > 0) refuse('invoked actors');
  if (after.length > 0) refuse('delays');
  if (type === 'compound' && initial.actions.length > 0) refuse('actions of an initial transition');
  for (const event of transitions.keys()) if (event.includes('*')) refuse('wildcards');
  for (const { source, target, reenter } of [...[...transitions.values()].flat(), ...always]) {
    if (reenter || target?.includes(source)) refuse('transitions to their own state');
    if (target && target.length > 1) refuse('transitions to several states');
  }
}

export function isLeaf({ type }: AnyStateNode): boolean {
  return type !== 'compound';
}

function initialLeaf(node: AnyStateNode): AnyStateNode {
  const [inner] = isLeaf(node) ? [] : (node.initial.target ?? []);
  return inner ? initialLeaf(inner) : node;
}

/** Innermost first, without the node itself. */
export function ancestors(node: AnyStateNode | undefined): AnyStateNode[] {
  const parent = node?.parent;
  return parent ? [parent, ...ancestors(parent)] : [];
}

export function descendants(node: AnyStateNode): AnyStateNode[] {
  return Object.values<AnyStateNode>(node.states).flatMap((child) => [child, ...descendants(child)]);
}

export function stateValue({ key, parent }: AnyStateNode, inner?: StateValue): StateValue {
  const value = inner === undefined ? key : { [key]: inner };
  return parent?.parent ? stateValue(parent, value) : value;
}
