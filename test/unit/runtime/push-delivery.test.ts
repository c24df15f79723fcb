import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { ed25519Keys } from '../../../src/adapters/push/ed25519-keys.ts';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { serviceOrigin } from '../../../src/core/request/request-origin.ts';
import { reportTask } from '../../../src/gateway/a2a/pushed-task.ts';
import {
  PushAddressError,
  type PushAnswer,
  type PushMessage,
  type PushSender,
} from '../../../src/ports/push-sender.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { PushBook } from '../../../src/runtime/push/push-book.ts';
import { PushDelivery } from '../../../src/runtime/push/push-delivery.ts';
import { Journal } from '../../../src/runtime/sessions/journal.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const turnId = 't1';
const BEGIN: SessionEvent[] = [
  { type: 'turn.requested', turnId, text: 'hello' },
  { type: 'turn.started', turnId },
];
const END: SessionEvent = { type: 'turn.completed', turnId, content: '' };

/** Sends nothing: the test answers. */
class DirectedSender implements PushSender {
  readonly sent: PushMessage[] = [];
  readonly #answers: ((answer: PushAnswer | Error) => void)[] = [];

  check = async () => undefined;

  send(message: PushMessage, signal: AbortSignal): Promise<PushAnswer> {
    this.sent.push(message);
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      this.#answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
    });
  }

  /** Answers the oldest notification without an answer, as soon as it has come. */
  async answer(answer: PushAnswer | Error | number): Promise<void> {
    for (;;) {
      const respond = this.#answers.shift();
      if (respond) return respond(typeof answer === 'number' ? { status: answer } : answer);
      await nextLoop();
    }
  }

  get ids(): (string | undefined)[] {
    return this.sent.map(({ headers }) => headers['webhook-id']);
  }
}

async function rig() {
  const store = memoryEventStore();
  const log = recordingLog();
  const bus = new LocalBus(() => undefined);
  const journal = new Journal(store, bus);
  let reads = 0;
  bus.handle('session.events', ({ sessionId, afterSeq, limit }) => {
    reads += 1;
    return journal.read(sessionId, afterSeq, limit);
  });
  const book = new PushBook(store, sealedBox(memoryKeys()));
  const clock = new SimulatedClock();
  const sender = new DirectedSender();
  /** One for each time that the key cannot be read. */
  const faults: true[] = [];
  const signer = ed25519Keys.signer(ed25519Keys.create());
  let seq = 0;
  const stored = await book.keep(
    {
      config: { id: 'c', url: 'https://client.example/' },
      pushId: 'p',
      client: { principal: 'anonymous', tenant: 'default', agent: 'default' },
      sessionId: 's',
      turnId,
      afterSeq: 0,
      head: 0,
    },
    serviceOrigin(),
  );
  const deliver = (from = stored, isResumed = false) => {
    const delivery = new PushDelivery(from, {
      bus,
      book,
      sender,
      log,
      clock,
      report: reportTask,
      contentType: 'application/a2a+json',
      signer: async () => {
        if (faults.splice(0, 1).length > 0) throw new Error('the key cannot be read');
        return signer;
      },
      now: () => clock.now(),
    });
    return { delivery, ended: delivery.run(isResumed) };
  };
  return {
    store,
    log,
    book,
    clock,
    sender,
    faults,
    stored,
    deliver,
    get reads() {
      return reads;
    },
    async say(...events: SessionEvent[]) {
      const appended = await journal.append('s', seq, events, { open: true, origin: serviceOrigin() });
      seq += appended.length;
      journal.publish(appended);
    },
    /** Lets the time of the next pause pass, once there is one. */
    async pass(ms: number) {
      for (let turns = 0; turns < 10; turns += 1) await nextLoop();
      clock.increment(ms);
    },
  };
}

describe('the delivery of push notifications', () => {
  it('sends one at a time in order, and erases the config after the last one', async () => {
    const { say, sender, deliver, book, stored } = await rig();
    const { ended } = deliver();
    await say(...BEGIN, END);
    await sender.answer(200);
    expect(sender.sent).toHaveLength(1);
    await sender.answer(200);
    await sender.answer(200);
    expect(await ended).toBe('told');
    expect(sender.ids).toEqual(['msg_p_1_0', 'msg_p_2_0', 'msg_p_3_0']);
    expect(await book.read(stored.stream)).toBeNull();
  });

  it('tells also what was to be sent while the key could not be read', async () => {
    const { say, sender, deliver, faults, pass } = await rig();
    faults.push(true);
    const { ended } = deliver();
    await say(...BEGIN);
    await pass(1_000);
    await sender.answer(200);
    await sender.answer(200);
    for (let turns = 0; turns < 10; turns += 1) await nextLoop();
    faults.push(true);
    await say(END);
    await pass(1_000);
    await sender.answer(200);
    expect(await ended).toBe('told');
    expect(sender.ids).toEqual(['msg_p_1_0', 'msg_p_2_0', 'msg_p_3_0']);
  });

  it('reads what happened meanwhile when the receiver has answered, and not before', async () => {
    const running = await rig();
    const { say, sender, deliver } = running;
    const { ended } = deliver();
    await say(...BEGIN);
    await sender.answer(200);
    await sender.answer(200);
    for (let turns = 0; turns < 10; turns += 1) await nextLoop();
    const call = { turnId, callId: 'c', toolName: 'pay', serverId: 'bank' };
    await say({ type: 'tool-call.requested', ...call, name: 'pay', arguments: {}, repeatable: false });
    for (let turns = 0; turns < 10; turns += 1) await nextLoop();
    const before = running.reads;
    for (let count = 0; count < 100; count += 1) await say({ type: 'session.renamed', title: `${count}` });
    expect(running.reads).toBe(before);
    await say(END);
    await sender.answer(200);
    await sender.answer(200);
    expect(await ended).toBe('told');
    expect(running.reads).toBe(before + 3);
  });

  it('sends again after the pause that the receiver wants, with another time and the same id', async () => {
    const { say, sender, deliver, clock, pass } = await rig();
    const { ended } = deliver();
    await say(...BEGIN, END);
    await sender.answer({ status: 503, retryAfter: '60' });
    await pass(59_000);
    await pass(500);
    expect(sender.sent).toHaveLength(1);
    await pass(500);
    await sender.answer(new Error('refused'));
    await pass(2_000);
    await sender.answer(200);
    await sender.answer(400);
    await sender.answer(200);
    expect(await ended).toBe('told');
    const [first, second] = sender.sent;
    expect(sender.ids.slice(0, 4)).toEqual(['msg_p_1_0', 'msg_p_1_0', 'msg_p_1_0', 'msg_p_2_0']);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-timestamp']).toBe('60');
    expect(clock.now()).toBe(62_000);
  });

  it('gives a receiver up that does not answer, that is gone, or that is private now', async () => {
    for (const [answer, end] of [
      [410, 'gone'],
      [new PushAddressError('private'), 'forbidden'],
    ] as const) {
      const { say, sender, deliver, book, stored } = await rig();
      const { ended } = deliver();
      await say(...BEGIN);
      await sender.answer(answer);
      expect(await ended).toBe(end);
      expect(await book.read(stored.stream)).toBeNull();
    }
    const { say, sender, deliver, pass, log } = await rig();
    const { ended } = deliver();
    await say(...BEGIN);
    let end: unknown;
    void ended.then((how) => {
      end = how;
    });
    while (end === undefined) {
      await sender.answer(500);
      await pass(1_000_000);
    }
    expect(end).toBe('unreachable');
    expect(sender.ids).toEqual(['msg_p_1_0', 'msg_p_1_0', 'msg_p_1_0', 'msg_p_1_0', 'msg_p_1_0']);
    expect(JSON.stringify(log.lines)).toContain('told nothing more');
  });

  it('goes on where it was stopped, and tells nothing twice that was noted', async () => {
    const { say, sender, deliver, book, stored } = await rig();
    const first = deliver();
    await say(...BEGIN);
    await sender.answer(200);
    await sender.answer(200);
    for (let turns = 0; turns < 10; turns += 1) await nextLoop();
    first.delivery.stop();
    expect(await first.ended).toBeNull();
    const kept = await book.read(stored.stream);
    expect(kept).toMatchObject({ upTo: 2, push: { turnId } });
    await say(END);
    const next = deliver(kept ?? stored, true);
    await sender.answer(200);
    expect(await next.ended).toBe('told');
    expect(sender.ids).toEqual(['msg_p_1_0', 'msg_p_2_0', 'msg_p_3_0']);
  });

  it('ends with the session, and when its turn is gone after a restart', async () => {
    const { say, sender, deliver, book, stored } = await rig();
    const { ended } = deliver();
    await say(...BEGIN);
    await sender.answer(200);
    await say({ type: 'session.deleted' });
    expect(await ended).toBe('vanished');
    expect(await book.read(stored.stream)).toBeNull();

    const other = await rig();
    expect(await other.deliver(other.stored, true).ended).toBe('vanished');
    expect(await other.book.read(other.stored.stream)).toBeNull();
  });

  it('ends without a word when another node has ended the config', async () => {
    const { say, sender, deliver, book, stored } = await rig();
    const { ended } = deliver();
    await say(...BEGIN);
    await book.erase(stored.stream);
    await sender.answer(200);
    expect(await ended).toBeNull();
    expect(sender.sent).toHaveLength(1);
  });
});
