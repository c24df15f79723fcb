import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** Draws a machine from its own definition, as a mermaid state diagram. */
export function mermaid(machine: AnyStateMachine): string {
  const { root } = machine;
  return ['stateDiagram-v2', ...drawStates(root, '  '), ...drawTransitions(root)].join('\n');
}

function drawStates(node: AnyStateNode, indent: string): string[] {
  const initial = node.initial?.target[0];
  const first = initial ? [`${indent}[*] --> ${initial.key}`] : [];
  const inner = Object.values(node.states).flatMap((state) => {
    if (state.type === 'final') return [`${indent}${state.key} --> [*]`];
    if (Object.keys(state.states).length === 0) return [`${indent}${state.key}`];
    return [`${indent}state ${state.key} {`, ...drawStates(state, `${indent}  `), `${indent}}`];
  });
  return [...first, ...inner];
}

function drawTransitions(node: AnyStateNode): string[] {
  const own = [...node.transitions.values(), node.always ?? []]
    .flat()
    .flatMap((transition) => drawTransition(node, transition));
  return [...own, ...Object.values(node.states).flatMap(drawTransitions)];
}

/** A transition of the whole machine is drawn as a note, because mermaid has no box for the outermost state. */
function drawTransition(source: AnyStateNode, transition: AnyTransitionDefinition): string[] {
  const label = labelOf(transition);
  const targets: readonly AnyStateNode[] = transition.target ?? [source];
  return targets.map((target) =>
    source.parent
      ? `  ${source.key} --> ${target.key}: ${label}`
      : `  note left of ${target.key}: ${label}, from anywhere`,
  );
}

function labelOf({ eventType, guard }: AnyTransitionDefinition): string {
  const event = eventType.replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1');
  const condition = typeof guard === 'string' ? guard : undefined;
  return [event === '' ? 'always' : event, condition && `[${condition}]`].filter(Boolean).join(' ');
}
