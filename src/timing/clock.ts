import type { ActorOptions, AnyActorLogic } from 'xstate';

/** What waits and time-outs go by. */
export type Clock = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

export const systemClock: Clock = { setTimeout, clearTimeout };
