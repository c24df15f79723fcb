import type { AnyEventObject, AnyStateMachine, MachineContext } from 'xstate';

/** What XState passes to guards and actions. */
interface Args {
  readonly context: MachineContext;
  readonly event: AnyEventObject;
}

export type Guard = (args: Args) => boolean;

export type TableAction =
  | { readonly type: 'assign'; readonly update: (args: Args) => MachineContext }
  | { readonly type: 'emit'; readonly effect: (args: Args) => AnyEventObject };

type Expression = (args: Args, params: unknown) => unknown;

/** A guard or an action of the machine by its name, with its parameters. */
interface Resolved {
  readonly implementation: unknown;
  readonly params: (args: Args) => unknown;
}

/** @throws Error for a guard that a table cannot evaluate. */
export function guardOf(machine: AnyStateMachine, guard: unknown): Guard {
  const { implementation, params } = resolve(machine.implementations.guards, guard);
  if (typeof implementation !== 'function') throw new Error(`a table has no guard ${nameOf(guard)}`);
  // The guards of `not`, `and` and `or` need nothing of a snapshot but its machine.
  if ('check' in implementation && 'guards' in implementation) {
    const check = implementation.check as (snapshot: unknown, args: Args, own: unknown) => boolean;
    return (args) => check({ machine }, args, implementation);
  }
  if ('check' in implementation) throw new Error(`a table has no guard ${nameOf(guard)}`);
  const predicate = implementation as Expression;
  return (args) => Boolean(predicate(args, params(args)));
}

/** @throws Error for an action that is neither `assign` nor `emit`. */
export function tableAction(machine: AnyStateMachine, action: unknown): TableAction {
  const { implementation, params } = resolve(machine.implementations.actions, action);
  if (typeof implementation === 'function' && 'assignment' in implementation) {
    const update = assignment(implementation.assignment);
    return { type: 'assign', update: (args) => ({ ...args.context, ...update(args, params(args)) }) };
  }
  if (typeof implementation === 'function' && 'type' in implementation && 'event' in implementation) {
    const { type, event } = implementation;
    const effect = typeof event === 'function' ? (event as Expression) : () => event;
    if (type === 'xstate.emit')
      return { type: 'emit', effect: (args) => effect(args, params(args)) as AnyEventObject };
  }
  throw new Error(`a table has no action ${nameOf(action)}, only those made by assign and emit`);
}

function assignment(assigned: unknown): (args: Args, params: unknown) => MachineContext {
  if (typeof assigned === 'function') return assigned as (args: Args, params: unknown) => MachineContext;
  const fields = Object.entries(assigned as Readonly<Record<string, unknown>>);
  return (args, params) =>
    Object.fromEntries(
      fields.map(([field, value]) => [field, typeof value === 'function' ? value(args, params) : value]),
    );
}

function resolve(named: Readonly<Record<string, unknown>>, reference: unknown): Resolved {
  if (typeof reference === 'function') return { implementation: reference, params: () => undefined };
  if (typeof reference === 'string') return { implementation: named[reference], params: () => undefined };
  const { type, params } = reference as { readonly type: string; readonly params?: unknown };
  const dynamic = typeof params === 'function' ? (params as (args: Args) => unknown) : () => params;
  return { implementation: named[type], params: dynamic };
}

function nameOf(reference: unknown): string {
  if (typeof reference === 'string') return reference;
  return typeof reference === 'object' && reference !== null && 'type' in reference
    ? String(reference.type)
    : 'without a name';
}
