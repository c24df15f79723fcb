import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { ServiceError } from '../../../../src/core/errors.ts';
import { StorageAwayError } from '../../../../src/core/log/storage-away.ts';
import { MEGABYTE } from '../../../../src/core/size-limits.ts';
import { StaleVersionError } from '../../../../src/ports/event-store.ts';
import { type NodeId, SessionElsewhereError } from '../../../../src/ports/membership.ts';
import { NodeCalls, NodeLostError } from '../../../../src/runtime/cluster/node-calls.ts';
import {
  type NodeMessage,
  nodeSubject,
  parseMessage,
} from '../../../../src/runtime/cluster/node-messages.ts';
import {
  DIRECT,
  LOST,
  type MemoryLink,
  MemoryNetwork,
  randomWays,
} from '../../../support/cluster/memory-link.ts';
import { seededRandom } from '../../../support/project/seeded-random.ts';
import { type RecordingLog, recordingLog } from '../../../support/telemetry/recording-log.ts';

const REPEAT_MS = 1_000;
const UNHEARD_MS = 5_000;

/** A node that can ask, and counts what it is asked. */
class Node {
  readonly self: NodeId;
  readonly link: MemoryLink;
  readonly log: RecordingLog = recordingLog();
  readonly calls: NodeCalls;
  /** What it was asked, as often as it did it. */
  readonly done: unknown[] = [];
  /** How it answers. */
  answer: (payload: unknown) => Promise<unknown> = async (payload) => ({ to: payload });
  isDead = false;

  constructor(self: NodeId, network: MemoryNetwork, clock: SimulatedClock) {
    this.self = self;
    this.link = network.connect();
    this.calls = new NodeCalls({
      link: this.link,
      membership: { self },
      log: this.log,
      answer: (question) => {
        const payload = question.type === 'topic' ? question.payload : question;
        this.done.push(payload);
        return this.answer(payload);
      },
      clock,
      now: () => clock.now(),
    });
    this.link.subscribe(nodeSubject(self), (text) => this.#hear(parseMessage(text)));
  }

  ask(node: Node, payload: unknown, limitMs?: number): Promise<unknown> {
    return this.calls.ask(node.self, { type: 'topic', topic: 't', payload }, limitMs);
  }

  #hear(message: NodeMessage | null): void {
    if (this.isDead) return;
    if (message?.type === 'ask') this.calls.hearAsk(message);
    if (message?.type === 'ack') this.calls.hearAck(message.from, message.id);
    if (message?.type === 'answer') this.calls.hearAnswer(message);
  }
}

/** Two nodes that know each other, and a clock and a network that the test drives. */
function pair() {
  const clock = new SimulatedClock();
  const network = new MemoryNetwork({ isManual: true });
  const [one, other] = [new Node(1, network, clock), new Node(2, network, clock)];
  /** Lets everything arrive, and what follows from it. */
  const settle = async (): Promise<void> => {
    do {
      await quiet();
      network.deliver();
      await quiet();
    } while (network.size > 0);
  };
  const pass = async (ms: number): Promise<void> => {
    clock.increment(ms);
    await settle();
  };
  return { clock, network, one, other, settle, pass };
}

/** All that was resolved has been taken. */
async function quiet(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Handled at once, so that a rejection is nobody's surprise. */
function outcomeOf(answer: Promise<unknown>): Promise<{ answer: unknown } | { error: unknown }> {
  return answer.then(
    (given) => ({ answer: given }),
    (error: unknown) => ({ error }),
  );
}

const isA = (type: NodeMessage['type']) => (text: string) => text.includes(`"type":"${type}"`);

describe('a question to another node', () => {
  it('is answered', async () => {
    const { one, other, settle } = pair();
    const answer = one.ask(other, 'q');
    await settle();
    expect(await answer).toEqual({ to: 'q' });
    expect(other.done).toEqual(['q']);
  });

  it('is done once, although it and its answer arrive twice', async () => {
    const { one, other, network, settle } = pair();
    network.way = () => [0, 0, 1];
    const answer = one.ask(other, 'q');
    await settle();
    expect(await answer).toEqual({ to: 'q' });
    expect(other.done).toEqual(['q']);
  });

  it('is repeated when it is lost', async () => {
    const { one, other, network, pass } = pair();
    let isFirst = true;
    network.way = () => {
      const way = isFirst ? LOST : DIRECT;
      isFirst = false;
      return way;
    };
    const answer = one.ask(other, 'q');
    await pass(REPEAT_MS - 1);
    expect(other.done).toEqual([]);
    await pass(1);
    expect(await answer).toEqual({ to: 'q' });
  });

  it('is repeated when its answer is lost, and answered as before without being done again', async () => {
    const { one, other, network, settle, pass } = pair();
    let count = 0;
    other.answer = async () => {
      count += 1;
      return count;
    };
    let lost = 0;
    network.way = (text) => {
      if (!isA('answer')(text) || lost === 2) return DIRECT;
      lost += 1;
      return LOST;
    };
    const answer = one.ask(other, 'q');
    await settle();
    await pass(REPEAT_MS);
    await pass(REPEAT_MS);
    expect(await answer).toBe(1);
    expect(other.done).toEqual(['q']);
  });

  it('may take as long as it takes, while the other node says that it is at it', async () => {
    const { one, other, settle, pass } = pair();
    const work = Promise.withResolvers<string>();
    other.answer = () => work.promise;
    const answer = one.ask(other, 'q');
    await settle();
    for (let passed = 0; passed < 60_000; passed += REPEAT_MS) await pass(REPEAT_MS);
    work.resolve('at last');
    await settle();
    expect(await answer).toBe('at last');
    expect(other.done).toEqual(['q']);
  });

  it('can be answered with nothing', async () => {
    const { one, other, settle } = pair();
    other.answer = async () => undefined;
    const answer = one.ask(other, 'q');
    await settle();
    expect(await answer).toBeUndefined();
  });

  it('is given up, and repeated no more, when its answer comes later than it may', async () => {
    const { one, other, network, settle, pass } = pair();
    const work = Promise.withResolvers<string>();
    other.answer = async (payload) => (payload === 'slow' ? work.promise : payload);
    const outcome = outcomeOf(one.ask(other, 'slow', 2 * REPEAT_MS));
    const quick = one.ask(other, 'quick', 2 * REPEAT_MS);
    await settle();
    expect(await quick).toBe('quick');
    await pass(REPEAT_MS);
    await pass(REPEAT_MS);
    expect(await outcome).toMatchObject({ error: { name: 'LateAnswerError' } });
    const asked = one.link.sent.length;
    for (let times = 0; times < 5; times += 1) await pass(REPEAT_MS);
    expect(one.link.sent).toHaveLength(asked);
    // Too late for anybody.
    work.resolve('at last');
    await settle();
    const next = one.ask(other, 'next');
    await settle();
    expect(await next).toBe('next');
    expect(parseMessage(one.link.sent.at(-1)?.text ?? '')).toMatchObject({ type: 'ask', id: 3, low: 3 });
    expect(network.size).toBe(0);
  });

  it('is refused at once while this node reaches nobody', async () => {
    const { one, other, network } = pair();
    one.link.cut();
    await expect(one.ask(other, 'q')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(network.size).toBe(0);
  });
});

describe('a question that is not done', () => {
  it('rejects with the refusal of the other node, word for word', async () => {
    const { one, other, settle } = pair();
    const refusal = new ServiceError('SESSION_NOT_FOUND', 'There is none.', { sessionId: 's' });
    other.answer = () => Promise.reject(refusal);
    const outcome = outcomeOf(one.ask(other, 'q'));
    await settle();
    const { error } = (await outcome) as { error: ServiceError };
    expect(error).toBeInstanceOf(ServiceError);
    expect(error.body).toEqual(refusal.body);
    expect(other.log.lines).toEqual([]);
  });

  it('rejects with a SessionElsewhereError that names the owner, or nobody', async () => {
    const { one, other, settle } = pair();
    for (const owner of [7, null]) {
      other.answer = () => Promise.reject(new SessionElsewhereError('s', owner));
      const outcome = outcomeOf(one.ask(other, 'q'));
      await settle();
      const { error } = (await outcome) as { error: SessionElsewhereError };
      expect(error).toBeInstanceOf(SessionElsewhereError);
      expect(error.owner).toBe(owner);
    }
  });

  it('looks for the owner again when the session has left the node meanwhile', async () => {
    const { one, other, settle } = pair();
    other.answer = () => Promise.reject(new StaleVersionError('s', 1, 2));
    const outcome = outcomeOf(one.ask(other, 'q'));
    await settle();
    expect(await outcome).toMatchObject({ error: { name: 'SessionElsewhereError', owner: null } });
  });

  it('rejects without the cause of a failure, which the log of the other node has', async () => {
    const { one, other, settle } = pair();
    other.answer = () => Promise.reject(new Error('the secret cause'));
    const outcome = outcomeOf(one.ask(other, 'q'));
    await settle();
    const { error } = (await outcome) as { error: ServiceError };
    expect(error.code).toBe('INTERNAL_ERROR');
    expect(JSON.stringify([error.body, String(error.cause)])).not.toContain('secret');
    expect(other.log.lines).toMatchObject([{ level: 'error', fields: { from: 1 } }]);
  });
});

it('a failure for want of the database is not said for each question', async () => {
  const { one, other, settle } = pair();
  other.answer = () => Promise.reject(new StorageAwayError('away'));
  const outcome = outcomeOf(one.ask(other, 'q'));
  await settle();
  expect(await outcome).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
  expect(other.log.lines).toMatchObject([{ level: 'debug' }]);
});

describe('a node that was asked', () => {
  it('is lost when it is gone', async () => {
    const { one, other, network, settle } = pair();
    network.way = () => LOST;
    const outcome = outcomeOf(one.ask(other, 'q'));
    await settle();
    one.calls.forgetLost([other.self]);
    const { error } = (await outcome) as { error: NodeLostError };
    expect(error).toBeInstanceOf(NodeLostError);
    expect(error.node).toBe(other.self);
  });

  it('is lost when it lives and says nothing for five seconds', async () => {
    const { one, other, pass } = pair();
    other.isDead = true;
    const outcome = outcomeOf(one.ask(other, 'q'));
    let isOver = false;
    void outcome.then(() => {
      isOver = true;
    });
    for (let passed = REPEAT_MS; passed < UNHEARD_MS; passed += REPEAT_MS) {
      await pass(REPEAT_MS);
      expect(isOver).toBe(false);
    }
    await pass(REPEAT_MS);
    expect(await outcome).toMatchObject({ error: { name: 'NodeLostError', node: 2 } });
  });

  it('is not waited for when this node stops', async () => {
    const { one, other, pass } = pair();
    other.isDead = true;
    const outcome = outcomeOf(one.ask(other, 'q'));
    one.calls.close();
    expect(await outcome).toMatchObject({ error: { name: 'NodeLostError' } });
    const sent = one.link.sent.length;
    await pass(REPEAT_MS);
    expect(one.link.sent).toHaveLength(sent);
    await expect(one.ask(other, 'later')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('is not lost with those that are gone', async () => {
    const { one, other, settle } = pair();
    const answer = one.ask(other, 'q');
    one.calls.forgetLost([9]);
    await settle();
    expect(await answer).toEqual({ to: 'q' });
  });
});

describe('the answers that a node keeps', () => {
  /** Says an earlier question of node 1 again. */
  const repeat = (one: Node, other: Node, index: number): void => {
    const asked = one.link.sent.filter(({ text }) => isA('ask')(text))[index];
    const message = parseMessage(asked?.text ?? 'null');
    if (message?.type === 'ask') other.calls.hearAsk(message);
  };

  it('are forgotten when a later question says that they were received, and the question is not done again', async () => {
    const { one, other, settle } = pair();
    for (const q of ['first', 'second']) {
      const answer = one.ask(other, q);
      await settle();
      await answer;
    }
    const answers = other.link.sent.length;
    repeat(one, other, 0);
    await settle();
    // Its answer is not there any more, and nobody waits for it.
    expect(other.link.sent).toHaveLength(answers);
    // The last one may have been lost: it is still there.
    repeat(one, other, 1);
    await settle();
    expect(other.link.sent).toHaveLength(answers + 1);
    expect(other.done).toEqual(['first', 'second']);
  });

  it('are no more megabytes than it may keep, and what is given up is not done again', async () => {
    const { one, other, settle, pass } = pair();
    const work = Promise.withResolvers<string>();
    // Two bytes for each character.
    const long = 'é'.repeat(MEGABYTE / 2);
    other.answer = async (payload) => (payload === 'slow' ? work.promise : long);
    const slow = one.ask(other, 'slow');
    await settle();
    for (let count = 1; count <= 20; count += 1) {
      const answer = one.ask(other, `long ${count}`);
      await settle();
      expect(await answer).toBe(long);
    }
    const answersTo = async (index: number): Promise<number> => {
      const sent = other.link.sent.length;
      repeat(one, other, index);
      await settle();
      return other.link.sent.length - sent;
    };
    const kept = [];
    for (let index = 1; index <= 20; index += 1) kept.push(await answersTo(index));
    // Fifteen and the names of their fields are less than sixteen megabytes.
    expect(kept).toEqual([...Array(5).fill(0), ...Array(15).fill(1)]);
    expect(other.done).toHaveLength(21);
    work.resolve('done');
    await pass(REPEAT_MS);
    expect(await slow).toBe('done');
  });

  it('have the last one among them, however long it is', async () => {
    const { one, other, settle } = pair();
    other.answer = async () => 'x'.repeat(17 * MEGABYTE);
    const answer = one.ask(other, 'q');
    await settle();
    expect(await answer).toHaveLength(17 * MEGABYTE);
    repeat(one, other, 0);
    await settle();
    expect(other.link.sent.filter(({ text }) => isA('answer')(text))).toHaveLength(2);
    expect(other.done).toEqual(['q']);
  });

  it('are kept while an earlier question of the node is open', async () => {
    const { one, other, settle, pass } = pair();
    const work = Promise.withResolvers<string>();
    other.answer = async (payload) => (payload === 'slow' ? work.promise : payload);
    const slow = one.ask(other, 'slow');
    await settle();
    for (const q of ['a', 'b']) {
      const answer = one.ask(other, q);
      await settle();
      expect(await answer).toBe(q);
    }
    repeat(one, other, 1);
    await settle();
    expect(other.done).toEqual(['slow', 'a', 'b']);
    work.resolve('done');
    await pass(REPEAT_MS);
    expect(await slow).toBe('done');
    expect(other.done).toEqual(['slow', 'a', 'b']);
  });
});

describe('over a link that loses, doubles and reorders texts', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'each question is done at most once and settles, and an answer is the one to its question (seed %i)',
    async (seed) => {
      const { one, other, network, pass } = pair();
      const random = seededRandom(seed);
      network.way = randomWays(seed, { lost: 0.3, doubled: 0.3, late: 0.4 });
      const delays: (() => void)[] = [];
      const slowly = (payload: unknown): Promise<unknown> =>
        new Promise((resolve) => delays.push(() => resolve(payload)));
      for (const node of [one, other])
        node.answer = (payload) => (random() < 0.5 ? slowly(payload) : Promise.resolve(payload));
      const asked: string[] = [];
      const outcomes: Promise<{ answer: unknown } | { error: unknown }>[] = [];
      for (let round = 0; round < 60; round += 1) {
        for (const [from, to] of [
          [one, other],
          [other, one],
        ] as const) {
          if (random() < 0.5) continue;
          const payload = `${from.self}: ${round}`;
          asked.push(payload);
          outcomes.push(outcomeOf(from.ask(to, payload)));
        }
        if (random() < 0.5) delays.shift()?.();
        await pass(200);
      }
      for (let passed = 0; passed < 20_000; passed += 500) {
        for (const resolve of delays.splice(0)) resolve();
        await pass(500);
      }
      const settled = await Promise.all(outcomes);
      for (const [index, outcome] of settled.entries())
        if ('answer' in outcome) expect(outcome.answer).toBe(asked[index]);
        else expect(outcome.error).toBeInstanceOf(NodeLostError);
      const done = [...one.done, ...other.done];
      expect(new Set(done).size).toBe(done.length);
      // Nearly all of them came through.
      const answered = settled.filter((outcome) => 'answer' in outcome);
      expect(answered.length).toBeGreaterThan(asked.length * 0.9);
    },
  );
});
