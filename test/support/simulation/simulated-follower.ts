import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { StreamPosition } from '../../../src/core/session/stream-cursor.ts';
import { encodeResumable, encodeResumed } from '../../../src/gateway/stream/resumable-frames.ts';
import { ResumingReader } from '../../../src/gateway/stream/resuming-reader.ts';
import { type ChooseNode, LATENCY_MS } from './asking.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { World } from './world.ts';

/** A client that follows a session over many connections, to any nodes. */
export abstract class SimulatedFollower {
  readonly name: string;
  readonly sessionId: string;
  protected readonly world: World;
  readonly #choose: ChooseNode;
  #isStopped = false;

  constructor(world: World, name: string, sessionId: string, choose: ChooseNode) {
    this.world = world;
    this.name = name;
    this.sessionId = sessionId;
    this.#choose = choose;
  }

  /** What the client has. Called when a node begins. */
  protected abstract position(): StreamPosition;

  /** @returns whether the connection goes on. */
  protected abstract take(frame: string): boolean;

  /** The node says that the session was deleted. The connection ends. */
  protected abstract deleted(): void;

  /** @param staysMs how long a connection lasts, at most. */
  async watch(staysMs: number): Promise<void> {
    const { world } = this;
    while (!this.#isStopped) {
      const node = this.#choose();
      if (node) await this.#connect(node, 100 + world.random() * staysMs);
      await world.wait(world.random() * 100);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when the connection has ended. */
  async #connect(node: SimulatedNode, staysMs: number): Promise<void> {
    const { world, sessionId } = this;
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
      const { seq, offset } = this.position();
      world.note(`${this.name} resumes after ${seq}.${offset}`);
      const reader = new ResumingReader(
        sessionId,
        { seq, offset },
        {
          bus: agent.bus,
          context: () => ANYONE,
          sink: {
            send: (frame) => {
              if (isOpen && !this.take(frame)) end();
              return true;
            },
            bufferedBytes: () => 0,
          },
          encode: encodeResumable,
          encodeResumed,
          wantsReasoning: false,
          onEnd: () => {
            this.deleted();
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
}
