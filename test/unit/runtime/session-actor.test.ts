import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { StaleVersionError } from '../../../src/ports/event-store.ts';
import { typesOf } from '../../support/log/session-log.ts';
import { NO_REPLY, said } from '../../support/models/steps.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const diskFull = new Error('disk full');

describe('the mailbox of a session', () => {
  it('answers many starts at once in the order they were given, one model call at a time', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    const turnIds = Array.from({ length: 50 }, (_, index) => `turn-${index}`);
    await Promise.all(turnIds.map((turnId) => rig.say(turnId)));
    for (const [index, turnId] of turnIds.entries()) {
      const call = await rig.model.call(index);
      expect(call.userText).toBe(turnId);
      expect(rig.model.calls).toHaveLength(index + 1);
      call.answer(`answer to ${turnId}`);
      expect(await heard.event('turn.completed', turnId)).toMatchObject({ content: `answer to ${turnId}` });
    }
    const requested = heard.events.filter(({ type }) => type === 'turn.requested');
    expect(requested).toMatchObject(turnIds.map((turnId) => ({ turnId })));
  });

  it('applies commands that are given at once one after the other', async () => {
    const rig = new SessionRig();
    const session = await rig.registry.session('s');
    const start = (turnId: string) => session.startTurn({ type: 'turn.start', turnId, text: turnId }, CLIENT);
    const [, cancelled] = await Promise.all([
      start('a'),
      session.cancel('changed my mind', CLIENT, 'a'),
      start('b'),
      session.reset(CLIENT),
      start('c'),
    ]);
    expect(cancelled).toBe(true);
    expect((await rig.model.callFor('c')).request.messages).toEqual([{ role: 'user', text: 'c' }]);
    expect(typesOf(await rig.logged())).toEqual([
      ...['turn.requested', 'turn.started', 'turn.cancelled'],
      ...['turn.requested', 'turn.started', 'turn.cancelled', 'session.reset'],
      ...['turn.requested', 'turn.started'],
    ]);
  });

  it('goes on behind a command that was refused', async () => {
    const rig = new SessionRig({ policy: { queuedMessages: 1, whenBusy: 'enqueue' } });
    const heard = rig.listen();
    const starts = await Promise.allSettled(['a', 'b', 'c'].map((turnId) => rig.say(turnId)));
    expect(starts.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(starts[2]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE', details: { limit: 1 } } });
    (await rig.model.call(0)).answer('1');
    (await rig.model.call(1)).answer('2');
    await heard.event('turn.completed', 'b');
    await rig.say('d');
    (await rig.model.callFor('d')).answer('3');
    await heard.event('turn.completed', 'd');
  });
});

describe('append before publish', () => {
  it('publishes an event only when it is in the log', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    const held = rig.store.holdNext('turn.requested');
    const start = rig.say('hello');
    await held.arrived;
    expect(heard.signals).toEqual([]);
    expect(rig.model.calls).toEqual([]);
    held.release();
    await start;
    expect(typesOf(heard.events)).toEqual(['turn.requested', 'turn.started']);
  });

  it('publishes nothing of a reply that the log refuses: the session faults and is unloaded', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    const loaded = await rig.registry.session('s');
    await rig.say('hello');
    rig.store.refuseNext('step.completed', diskFull);
    (await rig.model.call(0)).answer('lost');
    expect(await heard.fault()).toMatchObject({
      error: { code: 'INTERNAL_ERROR', details: { continues: true } },
    });
    expect(typesOf(heard.events)).toEqual(['turn.requested', 'turn.started']);
    expect(rig.log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: { sessionId: 's', turnId: 'hello', err: diskFull } }),
    );
    expect(await rig.registry.session('s')).not.toBe(loaded);
  });

  it('leaves it to the database to say that it is away', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    rig.store.refuseNext('step.completed', new StorageAwayError('away'));
    (await rig.model.call(0)).answer('lost');
    await heard.fault();
    expect(rig.log.lines.map(({ level }) => level)).toEqual(['debug']);
  });

  it('says nothing of a session that another node has begun first, and something of one that was here', async () => {
    const rig = new SessionRig();
    await rig.registry.session('s');
    rig.store.refuseNext('turn.requested', new StaleVersionError('s', 0, 2));
    await expect(rig.say('hello')).rejects.toThrow(StaleVersionError);
    const errors = () => rig.log.lines.filter(({ level }) => level === 'error').length;
    expect(errors()).toBe(0);
    await rig.say('hello');
    rig.store.refuseNext('turn.requested', new StaleVersionError('s', 2, 4));
    await expect(rig.say('again')).rejects.toThrow(StaleVersionError);
    expect(errors()).toBe(1);
  });

  it('goes on from the log at the next message: the open turn first, then the new one', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('first');
    rig.store.refuseNext('step.completed', diskFull);
    (await rig.model.call(0)).answer('lost');
    await heard.fault();
    await rig.say('second');
    (await rig.model.call(1)).answer('found again');
    expect(await heard.event('turn.completed', 'first')).toMatchObject({ content: 'found again' });
    (await rig.model.call(2)).answer('next');
    await heard.event('turn.completed', 'second');
    expect((await rig.model.call(2)).request.messages).toEqual([
      { role: 'user', text: 'first' },
      said('found again'),
      { role: 'user', text: 'second' },
    ]);
    expect((await rig.logged()).filter(({ type }) => type === 'turn.resumed')).toEqual([
      { type: 'turn.resumed', turnId: 'first', attempt: 2 },
    ]);
  });

  it('tells the sender alone of a message that the log refuses: no turn was under way', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    rig.store.refuseNext('turn.requested', diskFull);
    await expect(rig.say('hello')).rejects.toBe(diskFull);
    expect(heard.signals).toEqual([]);
    await rig.say('again');
    (await rig.model.call(0)).answer('fine');
    await heard.event('turn.completed', 'again');
    expect(await rig.logged()).not.toContainEqual(expect.objectContaining({ turnId: 'hello' }));
  });

  it('aborts the running turn when a message behind it cannot be recorded, and refuses what waits', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('running');
    const call = await rig.model.call(0);
    rig.store.refuseNext('turn.requested', diskFull);
    const [refused, behind] = await Promise.allSettled([rig.say('refused'), rig.say('behind')]);
    expect(refused).toMatchObject({ reason: diskFull });
    expect(behind).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE', details: { retryAfter: 1 } } });
    await call.aborted;
    await heard.fault();
    call.say('too late');
    expect(heard.chunks).toEqual([]);
  });

  it('takes the log at its word when an append failed after it was stored', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    rig.store.afterAppend = async () => {
      rig.store.afterAppend = async () => undefined;
      throw new Error('the answer of the store was lost');
    };
    (await rig.model.call(0)).answer('stored');
    await heard.fault();
    await rig.say('again');
    const { request } = await rig.model.call(1);
    expect(request.messages).toEqual([
      { role: 'user', text: 'hello' },
      said('stored'),
      { role: 'user', text: 'again' },
    ]);
  });
});

describe('cancelling', () => {
  it('aborts the model, and records exactly the text that was streamed', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    call.say('Once ', 'upon ');
    const session = await rig.registry.session('s');
    expect(await session.cancel('enough', CLIENT)).toBe(true);
    expect(call.signal.aborted).toBe(true);
    call.say('a time');
    expect(await heard.event('turn.cancelled')).toEqual({
      type: 'turn.cancelled',
      turnId: 'hello',
      cause: { kind: 'cancelled' },
      reason: 'enough',
      step: 1,
      separator: '',
      partial: 'Once upon ',
    });
    expect(heard.text).toBe('Once upon ');
  });

  it('streams nothing more while the cancellation is on its way to the log', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    call.say('Once ');
    const held = rig.store.holdNext('turn.cancelled');
    const cancelled = (await rig.registry.session('s')).cancel('enough', CLIENT);
    await held.arrived;
    expect(call.signal.aborted).toBe(true);
    call.say('upon ');
    held.release();
    await cancelled;
    expect(await heard.event('turn.cancelled')).toMatchObject({ partial: 'Once ' });
    expect(heard.text).toBe('Once ');
  });

  it('keeps the text of a reply that was complete but not yet recorded', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    const session = await rig.registry.session('s');
    const held = rig.store.holdNext('turn.requested');
    const second = rig.say('second');
    await held.arrived;
    // The cancellation is in the mailbox before the reply is, and the whole reply has been streamed.
    const cancelled = session.cancel('enough', CLIENT, 'hello');
    call.answer('All of it.');
    await call.reply;
    held.release();
    await Promise.all([second, cancelled]);
    expect(heard.text).toBe('All of it.');
    expect(await heard.event('turn.cancelled', 'hello')).toMatchObject({ partial: 'All of it.' });
  });

  it('does not record the text of a finished step twice', async () => {
    const tools = new DirectedTools({ look: {} });
    const rig = new SessionRig({ tools });
    const heard = rig.listen();
    await rig.say('hello');
    const call = await rig.model.call(0);
    call.say('Let me look.');
    call.askFor({ name: 'look' });
    const running = await tools.call(0);
    await (await rig.registry.session('s')).cancel('enough', CLIENT);
    expect(running.signal?.aborted).toBe(true);
    expect(await heard.event('turn.cancelled')).toMatchObject({ partial: '' });
    running.answer('too late');
    await rig.say('next');
    expect((await rig.model.call(1)).request.messages).toMatchObject([
      { role: 'user', text: 'hello' },
      { role: 'assistant', parts: [{ text: 'Let me look.' }, { callId: 'call-0-0' }] },
      { role: 'tool', callId: 'call-0-0', text: expect.stringMatching(/interrupted.*cancelled/) },
      NO_REPLY,
      { role: 'user', text: 'next' },
    ]);
  });

  it('takes a waiting message out of the queue and leaves the running turn alone', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await Promise.all([rig.say('a'), rig.say('b'), rig.say('c')]);
    expect(await (await rig.registry.session('s')).cancel('no longer wanted', CLIENT, 'b')).toBe(true);
    expect((await rig.model.call(0)).signal.aborted).toBe(false);
    (await rig.model.call(0)).answer('1');
    expect((await rig.model.call(1)).userText).toBe('c');
    (await rig.model.call(1)).answer('2');
    await heard.event('turn.completed', 'c');
    expect(heard.events).toContainEqual(expect.objectContaining({ type: 'turn.cancelled', turnId: 'b' }));
  });

  it('answers that there was nothing to cancel', async () => {
    const rig = new SessionRig();
    const session = await rig.registry.session('s');
    expect(await session.cancel('nothing runs', CLIENT)).toBe(false);
    await rig.say('a');
    expect(await session.cancel('unknown turn', CLIENT, 'other')).toBe(false);
    expect((await rig.model.call(0)).signal.aborted).toBe(false);
  });

  it('without a name means the turn that runs when it is asked, and no later one', async () => {
    const rig = new SessionRig();
    await Promise.all([rig.say('a'), rig.say('b')]);
    const session = await rig.registry.session('s');
    const held = rig.store.holdNext('step.completed');
    (await rig.model.call(0)).answer('done');
    await held.arrived;
    const cancelled = session.cancel('stop', CLIENT);
    held.release();
    expect(await cancelled).toBe(false);
    const next = await rig.model.call(1);
    expect(next.userText).toBe('b');
    expect(next.signal.aborted).toBe(false);
  });
});

describe('a reset', () => {
  it('while a turn runs cancels it and all that wait, then forgets the conversation', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await Promise.all([rig.say('a'), rig.say('b')]);
    const call = await rig.model.call(0);
    call.say('Half a ');
    await (await rig.registry.session('s')).reset(CLIENT);
    expect(call.signal.aborted).toBe(true);
    call.say('sentence');
    expect(heard.text).toBe('Half a ');
    const why = { cause: { kind: 'session-reset' }, reason: 'the conversation was reset' };
    expect(heard.events.slice(-3)).toEqual([
      { type: 'turn.cancelled', turnId: 'a', ...why, step: 1, separator: '', partial: 'Half a ' },
      { type: 'turn.cancelled', turnId: 'b', ...why, step: 0, separator: '', partial: '' },
      { type: 'session.reset' },
    ]);
    await rig.say('c');
    expect((await rig.model.call(1)).request.messages).toEqual([{ role: 'user', text: 'c' }]);
  });
});

describe('a failing turn', () => {
  it('lets the next message have its turn, and shows the model what was said before the failure', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await Promise.all([rig.say('a'), rig.say('b')]);
    const call = await rig.model.call(0);
    call.say('Half a ');
    call.fail(new ServiceError('AGENT_ERROR', 'No.', { reason: 'overloaded' }));
    expect(await heard.event('turn.failed', 'a')).toMatchObject({
      cause: { kind: 'model' },
      error: { code: 'AGENT_ERROR', details: { reason: 'overloaded' } },
      partial: 'Half a ',
    });
    expect((await rig.model.call(1)).request.messages).toEqual([
      { role: 'user', text: 'a' },
      said('Half a  [cut off: this reply failed]'),
      { role: 'user', text: 'b' },
    ]);
  });
});
