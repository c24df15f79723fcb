import { asServiceError } from '../../../../src/core/errors.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { ask, type ChooseNode, isTransient, KEY_MS } from '../asking.ts';
import type { World } from '../world.ts';
import type { Life, Lives } from './lives.ts';

/** How often it looks for calls that wait. */
const LOOK_MS = 150;
/** Longest that a call waits for its first decision. */
const HESITATES_MS = 1_500;
const AGAIN_MS = 400;

/** A decision that a node has said to have taken. */
export interface Decision {
  readonly sessionId: string;
  readonly callId: string;
  readonly approved: boolean;
  /** Of those with the same key, it is the same decision. */
  readonly key: string;
  readonly askedAt: number;
}

interface WaitingCall {
  readonly sessionId: string;
  readonly callId: string;
  readonly turnId: string;
  readonly argumentsHash: string;
}

/** Decides about all calls that wait, some of them twice, at different nodes and differently. */
export class Approver {
  readonly decisions: Decision[] = [];
  readonly #world: World;
  readonly #lives: Lives;
  readonly #choose: ChooseNode;
  readonly #seen = new Map<Life, number>();
  readonly #waiting = new Map<string, WaitingCall>();
  #asked = 0;
  #isStopped = false;

  constructor(world: World, lives: Lives, choose: ChooseNode) {
    this.#world = world;
    this.#lives = lives;
    this.#choose = choose;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async work(): Promise<void> {
    while (!this.#isStopped) {
      for (const life of this.#lives.all) this.#look(life);
      await this.#world.wait(LOOK_MS);
    }
  }

  #look(life: Life): void {
    const begin = this.#seen.get(life) ?? life.sharedSeq;
    const { events } = life;
    this.#seen.set(life, events.length);
    for (const { event } of events.slice(begin)) {
      const callKey = 'callId' in event ? `${life.id} ${event.callId}` : '';
      if (event.type === 'approval.requested') {
        const { callId, turnId, argumentsHash } = event;
        this.#waiting.set(callKey, { sessionId: life.id, callId, turnId, argumentsHash });
        void this.#decide(callKey);
      } else if ('callId' in event) this.#waiting.delete(callKey);
    }
  }

  /** Until the log says that somebody has decided. */
  async #decide(callKey: string): Promise<void> {
    const world = this.#world;
    await world.wait(world.random() * (world.chance(0.3) ? HESITATES_MS : LOOK_MS));
    for (;;) {
      const call = this.#waiting.get(callKey);
      if (!call || this.#isStopped) return;
      const approved = world.chance(0.75);
      const key = this.#newKey();
      const attempts = [this.#attempt(call, approved, key)];
      if (world.chance(0.25)) attempts.push(this.#attempt(call, approved, key));
      if (world.chance(0.25)) attempts.push(this.#attempt(call, !approved, this.#newKey()));
      await Promise.all(attempts);
      await world.wait(world.random() * AGAIN_MS);
    }
  }

  #newKey(): string {
    this.#asked += 1;
    return `decision-${this.#asked}`;
  }

  async #attempt(call: WaitingCall, approved: boolean, id: string): Promise<void> {
    const world = this.#world;
    const node = this.#choose();
    if (!node) return;
    const { sessionId, callId, argumentsHash } = call;
    const askedAt = world.now;
    const key = { id, fingerprint: `${callId} ${approved}`, expiresAt: Date.now() + KEY_MS };
    const wanted = { sessionId, callId, approved, ...(approved && { argumentsHash }), key };
    const outcome = await ask(world, node, `is asked: ${id}, ${callId} is ${approved}`, (bus) =>
      bus.send('approval.answer', wanted, ANYONE),
    );
    if (outcome === 'lost') return;
    if ('answer' in outcome) {
      world.note(`${id} is acknowledged`);
      this.decisions.push({ sessionId, callId, approved, key: id, askedAt });
    } else if (!isTransient(outcome.error) && asServiceError(outcome.error).code !== 'APPROVAL_NOT_FOUND')
      world.faults.push(`${id} was refused: ${JSON.stringify(asServiceError(outcome.error).body)}`);
  }
}
