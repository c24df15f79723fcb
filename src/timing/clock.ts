import type { ActorOptions, AnyActorLogic } from 'xstate';

/** The timers that waits and time-outs use. Tests replace them with a simulated clock. */
export type Clock = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

export const systemClock: Clock = { setTimeout, clearTimeout };
