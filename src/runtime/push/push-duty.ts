import type { StreamId } from '../../core/log/streams.ts';
import type { Unsubscribe } from '../../ports/bus.ts';
import { type Membership, SessionElsewhereError } from '../../ports/membership.ts';

/** Which process sends the notifications of a config. It owns the stream of the config, as a session is owned. */
export interface PushDuty {
  /** Whether this process sends them from now on. False while another one does. */
  claim(stream: StreamId): Promise<boolean>;
  release(stream: StreamId): void;
  /** The listener is called when another process has gone, and left its configs behind. */
  onLeft(listener: () => void): Unsubscribe;
}

/** For a service of one process. */
export const allPushes: PushDuty = {
  claim: async () => true,
  release: () => undefined,
  onLeft: () => () => undefined,
};

/** For a node of a cluster. @param prefix of the streams of the agent. */
export function sharedPushes(membership: Membership, prefix: string): PushDuty {
  return {
    async claim(stream) {
      try {
        await membership.claim(prefix + stream);
        return true;
      } catch (error) {
        if (error instanceof SessionElsewhereError) return false;
        throw error;
      }
    },
    release: (stream) => membership.forget(prefix + stream),
    onLeft(listener) {
      let known = new Set(membership.living.keys());
      return membership.onRenewed(() => {
        const living = new Set(membership.living.keys());
        const hasLeft = [...known].some((node) => !living.has(node));
        known = living;
        if (hasLeft) listener();
      });
    },
  };
}
