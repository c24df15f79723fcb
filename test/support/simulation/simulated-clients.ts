import { asServiceError } from '../../../src/core/errors.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { IdempotencyKey } from '../../../src/core/request/request-events.ts';
import type { StreamPosition } from '../../../src/core/session/stream-cursor.ts';
import { StreamRecord } from '../sockets/stream-record.ts';
import { ask, type ChooseNode, describeError, isTransient, KEY_MS, type Outcome } from './asking.ts';
import { SimulatedFollower } from './simulated-follower.ts';
import type { World } from './world.ts';

/** How often a user sends a message without a key, and only once. */
const KEYLESS = 0.2;

interface SentMessage {
  readonly content: string;
  isAcknowledged: boolean;
  /** Whether the user was told that nothing was recorded. */
  isRefused: boolean;
}

/** Sends messages one after the other. With a key, each until it is acknowledged. */
export class SimulatedUser {
  readonly name: string;
  readonly sessionId: string;
  /** In the order in which they were sent. */
  readonly sent: SentMessage[] = [];
  isDone = false;
  readonly #world: World;
  readonly #choose: ChooseNode;

  constructor(world: World, name: string, sessionId: string, choose: ChooseNode) {
    this.#world = world;
    this.name = name;
    this.sessionId = sessionId;
    this.#choose = choose;
  }

  /** @param messages how many. @param pauseMs between them, at most. */
  async work(messages: number, pauseMs: number): Promise<void> {
    for (let number = 1; number <= messages; number += 1) {
      await this.#world.wait(this.#world.random() * pauseMs);
      await this.#send(`work ${this.name}-${number}`);
      if (this.#world.chance(0.1)) await this.#cancel();
    }
    this.isDone = true;
  }

  async #send(content: string): Promise<void> {
    const world = this.#world;
    const message = { content, isAcknowledged: false, isRefused: false };
    this.sent.push(message);
    if (world.chance(KEYLESS)) return this.#sendOnce(message);
    const key = { id: content, fingerprint: content, expiresAt: Date.now() + KEY_MS };
    while (!message.isAcknowledged) {
      await this.#attempt(message, key);
      if (!message.isAcknowledged) await world.wait(50 + world.random() * 300);
    }
  }

  async #sendOnce(message: SentMessage): Promise<void> {
    const outcome = await this.#attempt(message);
    message.isRefused =
      outcome === undefined ||
      (outcome !== 'lost' &&
        'error' in outcome &&
        asServiceError(outcome.error).code === 'SERVICE_UNAVAILABLE');
    if (message.isRefused) this.#world.note(`${message.content} is refused`);
  }

  async #attempt(message: SentMessage, key?: IdempotencyKey): Promise<Outcome<unknown> | undefined> {
    const { content } = message;
    const node = this.#choose();
    const outcome =
      node &&
      (await ask(this.#world, node, `is asked: ${content}`, (bus) => {
        const turnId = crypto.randomUUID();
        const request = { sessionId: this.sessionId, turnId, text: content, ...(key && { key }) };
        return bus.send('turn.start', request, ANYONE);
      }));
    if (outcome && outcome !== 'lost' && 'answer' in outcome) {
      message.isAcknowledged = true;
      this.#world.note(`${content} is acknowledged as ${outcome.answer.turnId}`);
    }
    if (outcome && outcome !== 'lost' && 'error' in outcome && !isTransient(outcome.error))
      this.#world.faults.push(`${content} was refused: ${describeError(outcome.error)}`);
    return outcome;
  }

  async #cancel(): Promise<void> {
    const node = this.#choose();
    if (!node) return;
    const { sessionId } = this;
    const outcome = await ask(this.#world, node, 'is asked to cancel', (bus) =>
      bus.send('turn.cancel', { sessionId, reason: 'the user cancelled' }, ANYONE),
    );
    if (outcome !== 'lost' && 'error' in outcome && !isTransient(outcome.error))
      this.#world.faults.push(`a cancellation was refused: ${describeError(outcome.error)}`);
  }
}

/** Keeps all that it is told of its session, which nobody deletes. */
export class SimulatedWatcher extends SimulatedFollower {
  readonly record = new StreamRecord();
  /** The durable frames, as they came. */
  readonly texts: string[] = [];

  protected position(): StreamPosition {
    return this.record;
  }

  protected take(frame: string): boolean {
    this.world.note(`${this.name} is told ${frame.slice(0, 120)}`);
    try {
      const before = this.record.seq;
      this.record.add(JSON.parse(frame));
      if (this.record.seq > before) this.texts.push(frame);
    } catch (error) {
      this.world.faults.push(`${this.name} of ${this.sessionId}: ${String(error)}`);
      this.stop();
    }
    return true;
  }

  protected deleted(): void {
    this.world.faults.push(`${this.sessionId} was deleted`);
  }
}
