import { describe, expect, it } from 'vitest';
import type { SessionSignal } from '../../../../src/core/session/session-signal.ts';
import { FedNode, LISTENER, quiet } from '../../../support/cluster/fed-node.ts';
import { type FedSession, heardTexts } from '../../../support/cluster/fed-session.ts';
import { LOST, randomWays } from '../../../support/cluster/memory-link.ts';
import { seededRandom } from '../../../support/project/seeded-random.ts';

const A = 2;
const B = 3;
const REMIND_MS = 1_000;

/** A session of node A that a client of the listening node hears. */
async function start({ owner = A as number | null, events = 1 } = {}) {
  const node = new FedNode(A, B);
  const session = node.session('s', owner);
  if (events > 0) session.begin();
  for (let more = 1; more < events; more += 1) session.append({ type: 'session.renamed', title: `${more}` });
  node.feeds.open('s');
  await node.feeds.ready('s');
  await node.settle();
  return { node, session, told: node.heard('s') };
}

const seqs = (told: readonly SessionSignal[]): number[] =>
  told.flatMap((signal) => ('event' in signal ? [signal.seq] : []));
const texts = (told: readonly SessionSignal[]): string[] =>
  told.flatMap((signal) => ('type' in signal && signal.type === 'reply.chunk' ? [signal.content] : []));

/** The next text of this type is lost. */
function lose(node: FedNode, type: string): void {
  node.network.way = (text) => {
    if (!text.startsWith(`{"type":"${type}"`)) return [0];
    node.network.way = () => [0];
    return LOST;
  };
}

describe('a session of another node', () => {
  it('is heard from now on, without what was before', async () => {
    const { node, session, told } = await start({ events: 3 });
    expect(told).toEqual([]);
    const said = session.say('hello');
    const ended = session.endStep();
    await node.settle();
    expect(told).toEqual([said, ended]);
  });

  it('is heard from the middle of a step without the text before that, which the client asks for', async () => {
    const node = new FedNode(A);
    const session = node.session('s', A);
    session.begin();
    session.say('before ');
    node.feeds.open('s');
    await node.feeds.ready('s');
    session.say('after');
    session.endStep();
    await node.settle();
    expect(texts(node.heard('s'))).toEqual(['after']);
    expect(seqs(node.heard('s'))).toEqual([2]);
  });

  it('is not looked up if its owner is known', async () => {
    const node = new FedNode(A, B);
    const session = node.session('s', A);
    session.begin();
    node.feeds.open('s', A);
    await node.feeds.ready('s');
    const said = session.say('hello');
    await node.settle();
    expect(node.heard('s')).toEqual([said]);
    expect(node.placings).toBe(0);
  });

  it.each([
    ['another one has it', B],
    ['nobody has it', null],
  ])('is found if its owner was thought to be known, but %s', async (_, owner) => {
    const node = new FedNode(A, B);
    const session = node.session('s', owner);
    session.begin();
    node.feeds.open('s', A);
    await node.feeds.ready('s');
    if (owner === null) node.move(session, B);
    await node.settle();
    const said = session.say('hello');
    await node.settle();
    expect(node.heard('s')).toEqual([said]);
    expect(node.feeds.sourceOf('s')).toBe(B);
  });

  it('is asked of that node at once, until it is known to be elsewhere', async () => {
    const { node } = await start();
    expect(node.feeds.sourceOf('s')).toBe(A);
    expect(node.feeds.sourceOf('another')).toBeUndefined();
    node.feeds.released(['s'], A);
    expect(node.feeds.sourceOf('s')).toBeUndefined();
  });

  it('is told once, although texts arrive twice', async () => {
    const { node, session, told } = await start();
    node.network.way = () => [0, 0, 1];
    session.say('one ');
    await node.settle();
    session.say('two');
    session.endStep();
    await node.settle();
    expect(texts(told)).toEqual(['one ', 'two']);
    expect(seqs(told)).toEqual([2]);
    expect(node.watches).toBe(1);
  });

  it('is not sent any more when no client hears it', async () => {
    const { node, session, told } = await start();
    node.feeds.close('s');
    await node.settle();
    session.say('nobody hears this');
    node.endTurn();
    expect(node.network.size).toBe(0);
    expect(told).toEqual([]);
    expect(node.feeds.size).toBe(0);
  });

  it('is not sent any more when a node hears something that none of its clients wants', async () => {
    const { node, session } = await start();
    lose(node, 'unwatch');
    node.feeds.close('s');
    await node.settle();
    session.say('once more');
    await node.settle();
    session.say('not again');
    node.endTurn();
    expect(node.network.size).toBe(0);
  });
});

describe('what is lost on the way', () => {
  it('is noticed at the next message: events come from the log, text from the owner', async () => {
    const { node, session, told } = await start();
    session.say('one ');
    await node.settle();
    lose(node, 'feed');
    session.say('two ');
    session.append({ type: 'session.renamed', title: 'x' });
    await node.settle();
    expect(texts(told)).toEqual(['one ']);
    session.say('three');
    await node.settle();
    expect(texts(told).join('')).toBe('one two three');
    expect(seqs(told)).toEqual([2]);
  });

  it('is noticed within a second if nothing follows', async () => {
    const { node, session, told } = await start();
    session.say('one ');
    await node.settle();
    lose(node, 'feed');
    session.say('two');
    session.endStep();
    await node.settle();
    expect(seqs(told)).toEqual([]);
    node.clock.increment(REMIND_MS);
    await node.settle();
    expect(texts(told).join('')).toBe('one two');
    expect(seqs(told)).toEqual([2]);
  });

  it('is noticed within a second if it was the first message of the node', async () => {
    const { node, session, told } = await start();
    lose(node, 'feed');
    session.say('one');
    session.endStep();
    await node.settle();
    node.clock.increment(REMIND_MS);
    await node.settle();
    expect(texts(told).join('')).toBe('one');
    expect(seqs(told)).toEqual([2]);
  });

  it('while the link was down comes when it is up again', async () => {
    const { node, session, told } = await start();
    node.network.way = () => LOST;
    session.say('one ');
    session.say('two');
    await node.settle();
    node.network.way = () => [0];
    node.feeds.attachAgain();
    await node.settle();
    expect(texts(told).join('')).toBe('one two');
  });

  it('comes from the log meanwhile, as far as it is events', async () => {
    const { node, session, told } = await start();
    node.network.way = () => LOST;
    session.say('one');
    session.endStep();
    await node.settle();
    await node.feeds.check();
    await node.settle();
    // It may be on its way.
    expect(texts(told).join('')).toBe('');
    await node.feeds.check();
    await quiet();
    expect(texts(told).join('')).toBe('one');
    expect(seqs(told)).toEqual([2]);
  });

  it('comes from the log also for a client that came while nobody could be asked', async () => {
    const node = new FedNode(A);
    const session = node.session('s', A);
    session.begin();
    node.network.way = () => LOST;
    node.beforeWatch = () => Promise.reject(new Error('nobody can be asked'));
    node.feeds.open('s');
    await node.feeds.ready('s');
    session.say('one');
    session.endStep();
    await node.feeds.check();
    await node.settle();
    expect(seqs(node.heard('s'))).toEqual([2]);
    node.network.way = () => [0];
    node.beforeWatch = async () => undefined;
    session.append({ type: 'session.renamed', title: 'x' });
    await node.feeds.check();
    await node.settle();
    session.append({ type: 'session.renamed', title: 'y' });
    await node.settle();
    expect(seqs(node.heard('s'))).toEqual([2, 3, 4]);
  });

  it('comes from the log and later from the owner, whose text after it is told as it comes', async () => {
    const { node, session, told } = await start();
    node.network.way = () => [20];
    const renamed = session.append({ type: 'session.renamed', title: 'x' });
    const first = session.say('one ');
    await node.round();
    await node.feeds.check();
    await node.feeds.check();
    await quiet();
    expect(told).toEqual([renamed]);
    node.network.way = () => [0];
    await node.settle();
    const second = session.say('two');
    await node.settle();
    expect(told).toEqual([renamed, first, second]);
  });

  it('is read in pages', async () => {
    const { node, session, told } = await start();
    node.network.way = () => LOST;
    for (let event = 0; event < 450; event += 1)
      session.append({ type: 'session.renamed', title: `${event}` });
    await node.settle();
    node.network.way = () => [0];
    session.append({ type: 'session.renamed', title: 'last' });
    await node.settle();
    expect(seqs(told)).toEqual(Array.from({ length: 451 }, (_, index) => index + 2));
  });
});

describe('a log that cannot be read', () => {
  it('when a client comes does not make it deaf', async () => {
    const node = new FedNode(A);
    node.beforePlaces = () => Promise.reject(new Error('away'));
    node.feeds.open('s');
    await expect(node.feeds.ready('s')).rejects.toThrow('away');
    expect(node.errors).toHaveLength(1);
    node.beforePlaces = async () => undefined;
    await node.feeds.check();
    await node.settle();
    const session = node.session('s', A);
    session.begin();
    await node.settle();
    expect(seqs(node.heard('s'))).toEqual([1]);
  });

  it('while a feed catches up is read when something follows', async () => {
    const { node, session, told } = await start();
    lose(node, 'feed');
    session.append({ type: 'session.renamed', title: 'a' });
    await node.settle();
    node.beforeRead = () => Promise.reject(new Error('away'));
    session.append({ type: 'session.renamed', title: 'b' });
    await node.settle();
    expect(node.errors).toHaveLength(1);
    expect(told).toEqual([]);
    node.beforeRead = async () => undefined;
    session.append({ type: 'session.renamed', title: 'c' });
    await node.settle();
    expect(seqs(told)).toEqual([2, 3, 4]);
  });
});

describe('a session that no client hears any more', () => {
  it('is not read, also if its owner says only then that it cannot be asked', async () => {
    const { node, session, told } = await start({ owner: null, events: 0 });
    node.network.way = () => LOST;
    session.owner = A;
    session.begin();
    const failing = Promise.withResolvers<void>();
    node.beforeWatch = () => failing.promise;
    await node.feeds.check();
    node.feeds.close('s');
    failing.reject(new Error('nobody answers'));
    await node.settle();
    expect([told, node.reads]).toEqual([[], 0]);
  });
});

describe('a new owner', () => {
  it('goes on: nothing is missing and nothing doubled', async () => {
    const { node, session, told } = await start();
    session.say('one ');
    await node.settle();
    node.move(session, B);
    const resumed = session.resume(2);
    session.say('anew ');
    await node.settle();
    session.say('and done');
    session.endStep();
    await node.settle();
    expect(texts(told)).toEqual(['one ', 'anew ', 'and done']);
    expect(seqs(told)).toEqual([2, 3]);
    expect(told[1]).toEqual(resumed);
  });

  it('of whom nobody told is found', async () => {
    const { node, session, told } = await start();
    node.network.way = () => LOST;
    node.move(session, B);
    session.resume(2);
    session.say('anew');
    await node.settle();
    node.network.way = () => [0];
    await node.feeds.check();
    await node.settle();
    expect(texts(told)).toEqual(['anew']);
    expect(seqs(told)).toEqual([2]);
  });

  it('of a session that was nobody’s is heard from its first signal', async () => {
    const { node, session, told } = await start({ owner: null, events: 0 });
    session.owner = B;
    session.begin();
    session.say('hello');
    node.announce('claimed', B, 's');
    await node.settle();
    expect(seqs(told)).toEqual([1]);
    expect(texts(told)).toEqual(['hello']);
  });

  it('is heard although its announcement was lost, and what it sent before it was wanted', async () => {
    const { node, session, told } = await start({ owner: null, events: 0 });
    session.owner = B;
    node.network.way = () => LOST;
    session.begin();
    await node.settle();
    node.network.way = () => [0];
    session.append({ type: 'session.renamed', title: 'x' });
    await node.settle();
    expect(seqs(told)).toEqual([1, 2]);
  });

  it('is followed before something is asked of it', async () => {
    const { node, session, told } = await start({ owner: null, events: 0 });
    session.owner = B;
    session.begin();
    await node.feeds.follow('s', B);
    session.say('hello');
    await node.settle();
    expect(seqs(told)).toEqual([1]);
    expect(texts(told)).toEqual(['hello']);
  });

  it('whom the asked node names is asked', async () => {
    const { node, session, told } = await start();
    node.network.way = () => LOST;
    node.move(session, B);
    await node.settle();
    node.network.way = () => [0];
    node.feeds.attachAgain();
    await node.settle();
    session.say('hello');
    await node.settle();
    expect(texts(told)).toEqual(['hello']);
  });

  it('of a session whose owner is gone is heard, although the node that is gone is not', async () => {
    const { node, session, told } = await start();
    node.living.delete(A);
    await node.feeds.check();
    session.owner = B;
    session.resume(2);
    node.announce('claimed', B, 's');
    await node.settle();
    expect(seqs(told)).toEqual([2]);
  });
});

describe('a session of this node', () => {
  it('is not looked up if it has begun here', async () => {
    const node = new FedNode(A);
    node.session('s', LISTENER).begin();
    node.feeds.open('s', LISTENER);
    await node.feeds.ready('s');
    expect(node.feeds.toldUpTo('s', 1)).toBe(Infinity);
    expect(node.placings).toBe(0);
  });

  it('gets from the log what its clients lack, and then nothing over the feed', async () => {
    const { node, session, told } = await start();
    node.network.way = () => LOST;
    session.append({ type: 'session.renamed', title: 'lost' });
    session.owner = LISTENER;
    await node.feeds.own('s');
    expect(seqs(told)).toEqual([2]);
    node.network.way = () => [0];
    node.relay(A).relay('s', session.read(1, 1)[0] ?? session.begin());
    await node.settle();
    expect(seqs(told)).toEqual([2]);
  });

  it('is heard from the next owner after it was given up', async () => {
    const { node, session, told } = await start();
    session.owner = LISTENER;
    await node.feeds.own('s');
    // The clients hear this one without the feed.
    session.events.push({ sessionId: 's', seq: 2, time: 0, event: { type: 'session.reset' }, meta: null });
    node.feeds.disown('s', 2);
    session.owner = B;
    node.announce('claimed', B, 's');
    session.append({ type: 'session.renamed', title: 'x' });
    await node.settle();
    expect(seqs(told)).toEqual([3]);
  });

  it('is not told again what this node has told as its owner', async () => {
    const { node, session, told } = await start();
    session.owner = LISTENER;
    await node.feeds.own('s');
    // The clients hear these without the feed.
    for (const title of ['x', 'y']) {
      const event = { type: 'session.renamed', title } as const;
      session.events.push({ sessionId: 's', seq: session.head + 1, time: 0, event, meta: null });
      node.feeds.noteOwn('s', { sessionId: 's', seq: session.head, time: 0, event, meta: null });
    }
    expect(node.feeds.toldUpTo('s', session.head)).toBe(Infinity);
    node.feeds.loseOwn('s');
    expect(node.feeds.toldUpTo('s', session.head)).toBe(3);
    session.owner = B;
    session.append({ type: 'session.renamed', title: 'z' });
    await node.feeds.follow('s', B);
    await node.settle();
    expect(seqs(told)).toEqual([4]);
  });

  it('is not told again what this node has told while it still read what its clients lack', async () => {
    const { node, session, told } = await start();
    session.owner = LISTENER;
    const gate = Promise.withResolvers<void>();
    node.beforeRead = () => gate.promise;
    const owned = node.feeds.own('s');
    await node.settle();
    const event = { type: 'session.renamed', title: 'x' } as const;
    session.events.push({ sessionId: 's', seq: 2, time: 0, event, meta: null });
    node.feeds.noteOwn('s', { sessionId: 's', seq: 2, time: 0, event, meta: null });
    gate.resolve();
    await owned;
    expect(seqs(told)).toEqual([]);
    expect(node.feeds.toldUpTo('s', 2)).toBe(Infinity);
  });

  it('lets everybody who needs it wait until its clients have what they lack, which is read once', async () => {
    const { node, session, told } = await start();
    node.network.way = () => LOST;
    session.append({ type: 'session.renamed', title: 'lost' });
    session.owner = LISTENER;
    const gate = Promise.withResolvers<void>();
    node.beforeRead = () => gate.promise;
    const { reads } = node;
    const done: string[] = [];
    const all = [
      node.feeds.own('s').then(() => done.push('own')),
      node.feeds.own('s').then(() => done.push('own again')),
      node.feeds.owned('s').then(() => done.push('owned')),
    ];
    await node.settle();
    expect([done, seqs(told)]).toEqual([[], []]);
    gate.resolve();
    await Promise.all(all);
    expect(seqs(told)).toEqual([2]);
    // The second read has found nothing more.
    expect(node.reads - reads).toBe(2);
  });

  describe('whose clients lack something while the log is away', () => {
    async function away() {
      const started = await start();
      const { node, session } = started;
      node.network.way = () => LOST;
      session.append({ type: 'session.renamed', title: 'lost' });
      session.owner = LISTENER;
      node.beforeRead = () => Promise.reject(new Error('away'));
      return started;
    }

    it('is not ready for whoever needs it, until they have that', async () => {
      const { node, told } = await away();
      const failed = { status: 'rejected', reason: new Error('away') };
      const [owned, waited] = await Promise.allSettled([node.feeds.own('s'), node.feeds.owned('s')]);
      expect([owned, waited]).toEqual([failed, failed]);
      await expect(node.feeds.owned('s')).rejects.toThrow('away');
      node.beforeRead = async () => undefined;
      await node.feeds.owned('s');
      expect(seqs(told)).toEqual([2]);
    });

    it('gets it without anybody who needs it, too', async () => {
      const { node, told } = await away();
      await expect(node.feeds.own('s')).rejects.toThrow('away');
      await node.feeds.check();
      await quiet();
      expect(node.errors).toEqual([new Error('away')]);
      node.beforeRead = async () => undefined;
      await node.feeds.check();
      await quiet();
      expect(seqs(told)).toEqual([2]);
    });
  });

  it('that was only presumed to be new is heard from the node that has it', async () => {
    const { node, session, told } = await start({ owner: null, events: 0 });
    node.feeds.presumeOwn('s');
    session.owner = B;
    session.begin();
    node.feeds.loseOwn('s');
    await node.feeds.follow('s', B);
    session.append({ type: 'session.renamed', title: 'x' });
    await node.settle();
    expect(seqs(told).at(-1)).toBe(2);
    expect(node.feeds.size).toBe(1);
  });

  describe('that another node begins, and nobody has heard of that', () => {
    const begunBy = async (node: FedNode, session: FedSession): Promise<void> => {
      session.owner = B;
      session.begin();
      await node.settle();
      await node.feeds.check();
      await node.settle();
    };

    it('is heard from there if it was only presumed to be new', async () => {
      const { node, session, told } = await start({ owner: null, events: 0 });
      node.feeds.presumeOwn('s');
      await begunBy(node, session);
      expect(seqs(told)).toEqual([1]);
    });

    it('is heard from there if it was claimed before it began', async () => {
      const { node, session, told } = await start({ owner: null, events: 0 });
      await node.feeds.own('s');
      await begunBy(node, session);
      expect(seqs(told)).toEqual([1]);
    });

    it('is heard from there if this node has deleted the one before', async () => {
      const { node, session, told } = await start();
      session.owner = LISTENER;
      await node.feeds.own('s');
      node.feeds.noteOwn('s', session.append({ type: 'session.deleted' }));
      session.owner = null;
      session.delete();
      await begunBy(node, session);
      expect(seqs(told)).toEqual([1]);
    });
  });

  it.each([
    ['it has events', (node: FedNode) => node.feeds.own('s')],
    ['it begins here', begin],
  ])('is not looked up if %s', async (_, become) => {
    const { node } = await start();
    await become(node);
    const { placings } = node;
    await node.feeds.check();
    expect(node.placings).toBe(placings);
  });
});

/** The session begins at the listening node. */
async function begin(node: FedNode): Promise<void> {
  const session = node.session('s');
  session.owner = null;
  session.delete();
  node.feeds.presumeOwn('s');
  session.owner = LISTENER;
  node.feeds.noteOwn('s', session.begin());
}

describe('a session that is deleted', () => {
  it('may begin again at the same node', async () => {
    const { node, session, told } = await start();
    session.delete();
    session.begin();
    session.say('a new one');
    await node.settle();
    expect(seqs(told)).toEqual([2, 1]);
    expect(texts(told)).toEqual(['a new one']);
  });

  it('may begin again at another node', async () => {
    const { node, session, told } = await start();
    session.delete();
    await node.settle();
    node.move(session, B);
    session.begin();
    session.say('a new one');
    await node.settle();
    expect(seqs(told)).toEqual([2, 1]);
    expect(texts(told)).toEqual(['a new one']);
  });

  describe.each([
    ['fewer events', 2],
    ['as many events', 5],
    ['more events', 8],
  ])('and has begun again with %s while nothing was heard', (_, events) => {
    const DELETED = 6;
    const expected = [DELETED, ...Array.from({ length: events }, (__, index) => index + 1)];

    async function missed() {
      const started = await start({ events: DELETED - 1 });
      const { node, session } = started;
      // By then it is known when the session began.
      await node.feeds.check();
      node.network.way = () => LOST;
      session.delete();
      session.begin();
      for (let more = 1; more < events; more += 1)
        session.append({ type: 'session.renamed', title: `${more}` });
      await node.settle();
      return started;
    }

    it('is told as deleted, and from its beginning', async () => {
      const { node, told } = await missed();
      node.network.way = () => [0];
      node.feeds.attachAgain();
      await node.settle();
      await node.feeds.check();
      await node.settle();
      expect(seqs(told)).toEqual(expected);
    });

    it('is told so by the next owner', async () => {
      const { node, session, told } = await missed();
      node.network.way = () => [0];
      node.move(session, B);
      await node.settle();
      await node.feeds.check();
      await node.settle();
      expect(seqs(told)).toEqual(expected);
    });

    it('is told so from the log, while nobody can be asked', async () => {
      const { node, told } = await missed();
      for (let looks = 0; looks < 3; looks += 1) {
        await node.feeds.check();
        await node.settle();
      }
      expect(seqs(told)).toEqual(expected);
    });

    it('is told so by this node, when it becomes the owner', async () => {
      const { node, told } = await missed();
      await node.feeds.own('s');
      expect(seqs(told)).toEqual(expected);
    });
  });

  it('and begins again at this node, which has not heard of that, is told as deleted first', async () => {
    const { node, session, told } = await start({ events: 3 });
    node.network.way = () => LOST;
    session.delete();
    await node.settle();
    node.feeds.presumeOwn('s');
    expect(seqs(told)).toEqual([]);
    session.owner = LISTENER;
    node.feeds.noteOwn('s', session.begin());
    expect(told).toMatchObject([{ seq: 4, event: { type: 'session.deleted' } }]);
    node.feeds.noteOwn('s', session.append({ type: 'session.renamed', title: 'x' }));
    expect(seqs(told)).toEqual([4]);
  });

  it('is told once if a look at the log comes before what its owner tells of that', async () => {
    const { node, session, told } = await start({ events: 3 });
    await node.feeds.check();
    const looked = Promise.withResolvers<void>();
    node.beforePlaces = () => looked.promise;
    const checked = node.feeds.check();
    session.delete();
    session.begin();
    await node.settle();
    looked.resolve();
    await checked;
    await node.feeds.check();
    await node.settle();
    expect(seqs(told)).toEqual([4, 1]);
  });

  it.each([true, false])('is told once, also when its last message is lost (%s)', async (isLost) => {
    const { node, session, told } = await start({ events: 3 });
    if (isLost) node.network.way = () => LOST;
    session.delete();
    session.owner = null;
    await node.settle();
    node.network.way = () => [0];
    await node.feeds.check();
    // It may be on its way.
    expect(seqs(told)).toEqual(isLost ? [] : [4]);
    for (let looks = 0; looks < 3; looks += 1) await node.feeds.check();
    expect(told).toMatchObject([{ sessionId: 's', seq: 4, event: { type: 'session.deleted' } }]);
    node.move(session, B);
    session.begin();
    await node.settle();
    expect(seqs(told)).toEqual([4, 1]);
  });
});

describe('over a network that loses, doubles and reorders', () => {
  it.each(Array.from({ length: 24 }, (_, seed) => seed + 1))(
    'each event is told once and in order, and the text of each step is whole (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const node = new FedNode(A, B);
      const sessions = ['s', 'u', 'v'].map((stream) => node.session(stream, random() < 0.5 ? A : B));
      for (const { stream } of sessions) node.feeds.open(stream);
      await Promise.all(sessions.map(({ stream }) => node.feeds.ready(stream)));
      await node.settle();
      const ways = randomWays(seed, { lost: 0.2, doubled: 0.2, late: seed % 2 === 0 ? 0.2 : 0 });
      // Nothing else tells a client that its session has another owner now than what is read again and again.
      node.network.way = (text, subject) => (text.startsWith('{"type":"wanted"') ? [0] : ways(text, subject));
      node.beforeWatch = async () => {
        if (random() < 0.2) throw new Error('it was not heard');
        if (random() < 0.5) await quiet();
      };
      node.beforeRead = async () => {
        if (random() < 0.1) throw new Error('the log is away');
        if (random() < 0.5) await quiet();
      };
      for (let step = 0; step < 300; step += 1) {
        for (const session of sessions) act(session, node, random);
        if (random() < 0.6) await node.round();
        if (random() < 0.05) node.clock.increment(REMIND_MS);
        if (random() < 0.03) node.feeds.attachAgain();
        if (random() < 0.03) await node.feeds.check();
      }
      node.beforeWatch = async () => undefined;
      node.beforeRead = async () => undefined;
      node.network.way = () => [0];
      for (let rest = 0; rest < 4; rest += 1) {
        node.clock.increment(REMIND_MS);
        await node.settle();
        await node.feeds.check();
        await node.settle();
      }
      for (const session of sessions) {
        const told = node.heard(session.stream);
        expect(seqs(told)).toEqual(session.events.map(({ seq }) => seq));
        const heard = heardTexts(told);
        for (const [step, text] of session.texts) expect([step, heard.get(step) ?? '']).toEqual([step, text]);
      }
      // The test has let something be lost.
      expect(node.reads).toBeGreaterThan(3);
    },
  );
});

/** Something happens in the session, or nothing. */
function act(session: FedSession, node: FedNode, random: () => number): void {
  const chance = random();
  const isRunning = session.events.findLast(({ event }) => event.type !== 'session.renamed')?.event.type;
  const isOpen = isRunning === 'turn.started' || isRunning === 'turn.resumed';
  if (!isOpen) {
    if (chance < 0.3) session.begin();
  } else if (chance < 0.5) session.say(`${session.running?.content.length ?? 0} `);
  else if (chance < 0.6) session.endStep();
  else if (chance < 0.65) session.append({ type: 'session.renamed', title: `${chance}` });
  else if (chance < 0.68) {
    node.move(session, session.owner === A ? B : A);
    session.resume(session.head);
  }
}

describe('the next session with the id of one that was deleted', () => {
  const renamed = (session: FedSession, count: number): void => {
    for (let more = 0; more < count; more += 1) session.append({ type: 'session.renamed', title: `${more}` });
  };

  it('is not told as deleted because of one before it that the clients never heard of', async () => {
    const { node, session, told } = await start({ events: 0, owner: null });
    node.network.way = () => LOST;
    session.owner = A;
    session.begin();
    await node.settle();
    node.beforeRead = () => Promise.reject(new Error('away'));
    // The place of the session arrives, its events do not.
    await node.feeds.check();
    await node.settle();
    session.delete();
    session.owner = null;
    node.feeds.released(['s'], A);
    await node.settle();
    node.beforeRead = async () => undefined;
    node.network.way = () => [0];
    session.owner = B;
    session.begin();
    await node.settle();
    expect(seqs(told)).toEqual([1]);
    await node.feeds.check();
    await node.settle();
    expect(seqs(told)).toEqual([1]);
  });

  it('is not told as deleted because a look saw the one before it that was being erased', async () => {
    const { node, session, told } = await start({ events: 3 });
    // Recorded and told, but not erased yet: that waits for the grants of the session to be revoked.
    const { place } = session;
    session.delete();
    await node.settle();
    expect(seqs(told)).toEqual([4]);
    const { head, events } = session;
    expect(head).toBe(0);
    Object.defineProperty(session, 'place', { value: { ...place, head: 4 }, configurable: true });
    Object.defineProperty(session, 'head', { value: 4, configurable: true });
    await node.feeds.check();
    await node.settle();
    Reflect.deleteProperty(session, 'place');
    Reflect.deleteProperty(session, 'head');
    expect(events).toEqual([]);
    session.begin();
    await node.settle();
    expect(seqs(told)).toEqual([4, 1]);
    await node.feeds.check();
    await node.settle();
    expect(seqs(told)).toEqual([4, 1]);
  });

  it('is not told as deleted by a look that was asked before it began', async () => {
    const { node, session, told } = await start({ events: 3 });
    // The deletion is on its way, and the first look does not find the session.
    node.network.way = (text) => (text.includes('session.deleted') ? [2] : [0]);
    session.delete();
    node.endTurn();
    await node.feeds.check();
    expect(seqs(told)).toEqual([]);
    node.network.way = () => [0];
    await node.settle();
    expect(seqs(told)).toEqual([4]);
    // The second look finds nothing either, and its answer comes when the next session has begun.
    const looked = Promise.withResolvers<void>();
    const found = node.sessions.get('s');
    node.sessions.delete('s');
    node.beforePlaces = () => looked.promise;
    const checked = node.feeds.check();
    if (found) node.sessions.set('s', found);
    session.begin();
    await node.settle();
    expect(seqs(told)).toEqual([4, 1]);
    node.sessions.delete('s');
    looked.resolve();
    await checked;
    expect(seqs(told)).toEqual([4, 1]);
  });

  it('is not read for nobody, when the clients leave as they are told that theirs was deleted', async () => {
    const { node, session, told } = await start({ events: 3 });
    await node.feeds.check();
    node.network.way = () => LOST;
    session.delete();
    session.begin();
    renamed(session, 1);
    await node.settle();
    // As every reader does.
    const push = told.push.bind(told);
    told.push = (...signals) => {
      const count = push(...signals);
      if (signals.some((signal) => 'event' in signal && signal.event.type === 'session.deleted'))
        node.feeds.close('s');
      return count;
    };
    await node.feeds.check();
    await node.settle();
    expect(node.feeds.size).toBe(0);
    expect([seqs(told), node.reads]).toEqual([[4], 0]);
  });

  it('is told once although it is not erased yet when the feed catches up', async () => {
    const { node, session, told } = await start({ events: 3 });
    node.network.way = () => LOST;
    session.append({ type: 'session.deleted' });
    await node.settle();
    node.network.way = () => [0];
    let reads = 0;
    node.beforeRead = async () => {
      reads += 1;
      // Erased in the end.
      if (reads > 6) session.events = [];
    };
    node.feeds.attachAgain();
    await node.settle();
    expect(seqs(told)).toEqual([4]);
  });

  it('and has as many events is not taken for the one before, also if more follow before the next look', async () => {
    const { node, session, told } = await start({ events: 3 });
    await node.feeds.check();
    node.network.way = () => LOST;
    session.delete();
    session.begin();
    renamed(session, 2);
    await node.settle();
    node.network.way = () => [0];
    // The owner repeats the number of its last message.
    node.clock.increment(REMIND_MS);
    await node.settle();
    renamed(session, 1);
    await node.settle();
    await node.feeds.check();
    await node.settle();
    expect(seqs(told)).toEqual([4, 1, 2, 3, 4]);
  });

  it('soon after the client came is told as deleted, although it has more events', async () => {
    const { node, session, told } = await start({ events: 3 });
    // No `check` yet, but the place of the session was looked up when the client came.
    node.network.way = () => LOST;
    session.delete();
    session.begin();
    renamed(session, 4);
    await node.settle();
    node.network.way = () => [0];
    for (let looks = 0; looks < 3; looks += 1) {
      await node.feeds.check();
      await node.settle();
    }
    expect(seqs(told)).toEqual([4, 1, 2, 3, 4, 5]);
  });

  it('is told as deleted by this node as its owner, also if the log was away for a moment', async () => {
    const { node, session, told } = await start({ events: 5 });
    await node.feeds.check();
    node.network.way = () => LOST;
    session.delete();
    session.begin();
    session.owner = LISTENER;
    node.beforePlaces = () => Promise.reject(new Error('away'));
    await expect(node.feeds.own('s')).rejects.toThrow('away');
    node.beforePlaces = async () => undefined;
    for (let looks = 0; looks < 3; looks += 1) {
      await node.feeds.check();
      await node.settle();
    }
    // What this node tells as the owner comes after that.
    node.feeds.noteOwn('s', session.append({ type: 'session.renamed', title: 'x' }));
    expect(seqs(told)[0]).toBe(6);
  });

  it('is told as deleted also if another node begins the next one before its owner can be asked', async () => {
    const { node, session, told } = await start({ owner: null, events: 0 });
    session.owner = A;
    session.begin();
    await node.settle();
    lose(node, 'feed');
    renamed(session, 1);
    await node.settle();
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
    node.beforeWatch = () => asked;
    renamed(session, 1);
    await node.settle();
    session.delete();
    await node.settle();
    expect(seqs(told)).toEqual([1]);
    node.beforeWatch = async () => undefined;
    session.owner = B;
    // As many events as the clients have of the session before.
    session.begin();
    node.announce('claimed', B, 's');
    await node.settle();
    answer();
    await node.settle();
    expect(seqs(told)).toEqual([1, 2, 1]);
    expect(told[1]).toMatchObject({ event: { type: 'session.deleted' } });
  });

  it.each([true, false])(
    'and has as many events is told when another node begins it that knows its watchers (%s)',
    async (saysBegan) => {
      const { node, session, told } = await start({ owner: null, events: 0 });
      node.saysBegan = saysBegan;
      session.owner = A;
      session.begin();
      await node.settle();
      // All that A says of the deletion is lost.
      node.network.way = () => LOST;
      session.delete();
      await node.settle();
      node.network.way = () => [0];
      session.owner = B;
      node.announce('claimed', B, 's');
      session.begin();
      await node.settle();
      renamed(session, 1);
      await node.settle();
      expect(seqs(told)).toEqual([1, 2, 1, 2]);
      expect(told[1]).toMatchObject({ event: { type: 'session.deleted' } });
    },
  );

  it('is told as deleted if it was erased since its owner said its position', async () => {
    const { node, session, told } = await start({ events: 1 });
    lose(node, 'feed');
    renamed(session, 1);
    await node.settle();
    const { promise: read, resolve: goOn } = Promise.withResolvers<void>();
    node.beforeRead = () => read;
    // A message after the lost one: the feed asks the owner, and reads the log.
    renamed(session, 1);
    await node.settle();
    node.network.way = () => LOST;
    session.delete();
    await node.settle();
    goOn();
    await node.settle();
    expect(seqs(told)).toEqual([2]);
    expect(told[0]).toMatchObject({ event: { type: 'session.deleted' } });
  });

  it('is told as deleted to clients who had it from elsewhere, although the feed had nothing of it yet', async () => {
    const { node, session, told } = await start({ events: 0 });
    lose(node, 'feed');
    session.begin();
    await node.settle();
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
    node.beforeWatch = () => asked;
    // A message after the lost one: the feed asks the owner, and hears of the end before the answer.
    renamed(session, 1);
    await node.settle();
    session.delete();
    await node.settle();
    session.begin();
    await node.settle();
    answer();
    await node.settle();
    expect(told[0]).toMatchObject({ event: { type: 'session.deleted' } });
    expect(seqs(told.slice(1))).toEqual([1]);
  });

  it('is not told as deleted by a late message about the one before', async () => {
    const { node, session, told } = await start({ events: 3 });
    await node.feeds.check();
    node.network.way = (text) => (text.startsWith('{"type":"feed"') ? [9] : LOST);
    node.beforeWatch = () => Promise.reject(new Error('nobody can be asked'));
    session.delete();
    node.endTurn();
    session.begin();
    renamed(session, 2);
    node.endTurn();
    for (let looks = 0; looks < 3; looks += 1) {
      await node.feeds.check();
      await quiet();
    }
    expect(seqs(told)).toEqual([4, 1, 2, 3]);
    node.network.way = () => [0];
    node.beforeWatch = async () => undefined;
    await node.settle();
    expect(seqs(told)).toEqual([4, 1, 2, 3]);
  });

  it('within the time that a feed takes to catch up is not mixed with the one before', async () => {
    const { node, session, told } = await start({ events: 3 });
    // So the place of the session has to be looked up.
    node.saysBegan = false;
    await node.feeds.check();
    lose(node, 'feed');
    renamed(session, 1);
    await node.settle();
    // Asked again, the owner says that there are 4 events; before the place is known, there is another session.
    const looked = Promise.withResolvers<void>();
    node.beforePlaces = () => looked.promise;
    node.clock.increment(REMIND_MS);
    await node.settle();
    session.delete();
    session.begin();
    renamed(session, 4);
    await node.settle();
    looked.resolve();
    await node.settle();
    await node.feeds.check();
    await node.settle();
    expect(seqs(told)).toEqual([4, 1, 2, 3, 4, 5]);
  });
});
