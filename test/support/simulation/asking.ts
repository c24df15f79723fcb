import { asServiceError } from '../../../src/core/errors.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { World } from './world.ts';

export const LATENCY_MS = 2;
/** After which a client gives a request up. */
const PATIENCE_MS = 15_000;
export const KEY_MS = 86_400_000;
/** Errors that say: try it again, with the same key. */
const TRANSIENT: readonly string[] = ['SERVICE_UNAVAILABLE', 'OUTCOME_UNKNOWN'];

export type ChooseNode = () => SimulatedNode | undefined;
export type Outcome<T> = { readonly answer: T } | { readonly error: unknown } | 'lost';

/** Asks a node as a client does, who may never hear of the answer. */
export function ask<T>(
  world: World,
  node: SimulatedNode,
  what: string,
  work: (bus: Bus) => Promise<T>,
): Promise<Outcome<T>> {
  const { promise, resolve } = Promise.withResolvers<Outcome<T>>();
  const tell = (outcome: Outcome<T>): void =>
    void world.plan(null, world.random() * LATENCY_MS, '', () => resolve(outcome));
  const stop = node.life.onDeath(() => tell('lost'));
  world.plan(null, PATIENCE_MS, '', () => resolve('lost'));
  world.plan(node.life, world.random() * LATENCY_MS, what, () => {
    const { agent } = node;
    if (!agent) return tell('lost');
    work(agent.bus).then(
      (answer) => tell({ answer }),
      (error: unknown) => tell({ error }),
    );
  });
  return promise.finally(stop);
}

/** As the gateway tells them. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.includes(asServiceError(error).code);
}

export function describeError(error: unknown): string {
  return `${JSON.stringify(asServiceError(error).body)} ${error instanceof Error ? (error.stack ?? '') : ''}`;
}

/** Of a request with a key, that is not safe to repeat. */
export function isForEver(error: unknown): boolean {
  const { code, body } = asServiceError(error);
  return code === 'OUTCOME_UNKNOWN' && 'key' in (body.details ?? {});
}
