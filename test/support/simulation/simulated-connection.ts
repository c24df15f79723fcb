import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { StreamPosition } from '../../../src/core/session/stream-cursor.ts';
import { encodeResumable, encodeResumed } from '../../../src/gateway/stream/resumable-frames.ts';
import { ResumingReader } from '../../../src/gateway/stream/resuming-reader.ts';
import { LATENCY_MS } from './asking.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { World } from './world.ts';

export interface Follower {
  readonly name: string;
  readonly sessionId: string;
  /** Called when the node begins: what the client has. */
  readonly position: () => StreamPosition;
  /** @returns whether the connection goes on. */
  readonly take: (frame: string) => boolean;
  /** The node says that the session was deleted. The connection ends. */
  readonly onDeleted?: () => void;
}

/** Follows a session over one connection. Resolves when the connection has ended. @param staysMs how long it lasts at most. */
export async function followAt(
  { world, node, staysMs }: { readonly world: World; readonly node: SimulatedNode; readonly staysMs: number },
  { name, sessionId, position, take, onDeleted }: Follower,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let isOpen = true;
  let close = (): void => undefined;
  const end = (): void => {
    isOpen = false;
    ended.resolve();
    // The node hears of it when it can.
    world.plan(node.life, 0, '', close);
  };
  const stop = node.life.onDeath(end);
  world.plan(null, staysMs, '', end);
  world.plan(node.life, world.random() * LATENCY_MS, '', () => {
    const { agent, fanOut } = node;
    if (!agent || !fanOut || !isOpen) return end();
    const { seq, offset } = position();
    world.note(`${name} resumes after ${seq}.${offset}`);
    const reader = new ResumingReader(
      sessionId,
      { seq, offset },
      {
        bus: agent.bus,
        context: () => ANYONE,
        sink: {
          send: (frame) => {
            if (isOpen && !take(frame)) end();
            return true;
          },
          bufferedBytes: () => 0,
        },
        encode: encodeResumable,
        encodeResumed,
        wantsReasoning: false,
        onEnd: () => {
          onDeleted?.();
          end();
        },
        onError: end,
      },
    );
    fanOut.join(sessionId, reader);
    close = () => {
      fanOut.leave(sessionId, reader);
      reader.close();
    };
    reader.start();
  });
  await ended.promise;
  stop();
}
