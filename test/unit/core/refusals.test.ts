import { describe, expect, it } from 'vitest';
import { modelConversation } from '../../../src/core/conversation/model-conversation.ts';
import type { ModelMessage } from '../../../src/core/conversation/model-message.ts';
import { cautionAfter, NO_REFUSALS, refusedIn } from '../../../src/core/conversation/refusals.ts';
import type { Refused } from '../../../src/core/conversation/refused.ts';
import { SessionLog } from '../../support/log/session-log.ts';
import { completeStep, said } from '../../support/models/steps.ts';
import { foldedView } from '../../support/sessions/folded-view.ts';

const image = { base64: 'aaaa', mimeType: 'image/png' } as const;
const source = { api: 'chat', provider: 'p', model: 'm' };
const signature = { type: 'opaque', data: { signature: 'x' } } as const;

/** A session in front of a provider that the test speaks for. */
class Session extends SessionLog {
  /** A turn that is answered; its reply is signed. */
  answered(turnId: string, more: { image?: typeof image } = {}): this {
    this.tell({ type: 'turn.start', turnId, text: turnId, ...more });
    return this.accepted(turnId);
  }

  accepted(turnId: string, step = 1): this {
    const parts = [signature, { type: 'text', text: `re: ${turnId}` } as const];
    this.tell(completeStep({ turnId, step, parts, source }));
    return this;
  }

  refused(turnId: string, refused: Refused, details: object = {}): this {
    this.tell({ type: 'turn.start', turnId, text: turnId });
    return this.fails(turnId, { refused, ...details });
  }

  /** A turn whose reply was rejected: the model was asked for another one. */
  corrected(turnId: string, reply: string): this {
    const output = { schema: {}, name: 'output' };
    this.tell({ type: 'turn.start', turnId, text: turnId, options: { output } });
    this.tell(completeStep({ turnId, text: reply, outputIssue: 'it is not JSON' }));
    return this;
  }

  fails(turnId: string, details: Record<string, unknown>, partial = ''): this {
    const error = { code: 'AGENT_ERROR', message: 'No.', details } as const;
    this.tell({ type: 'turn.fail', turnId, cause: { kind: 'model' }, error, partial });
    return this;
  }

  /** What the model would be shown now, after a message that says `now`. */
  get shownNow(): ModelMessage[] {
    const { transcript, refusals } = this.state;
    const window: ModelMessage[] = [...transcript, { role: 'user', text: 'now' }];
    return modelConversation(window, { source, caution: cautionAfter(refusals) });
  }
}

const user = (text: string, ...images: (typeof image)[]): ModelMessage => ({
  role: 'user',
  text,
  ...(images.length > 0 && { images }),
});
/** A reply as its own model is shown it, and as any other is. */
const signed = (turnId: string): ModelMessage => ({
  role: 'assistant',
  parts: [signature, { type: 'text', text: `re: ${turnId}` }],
  source,
});
const unsigned = (turnId: string): ModelMessage => said(`re: ${turnId}`);
const LEFT_OUT = '[an image was left out: the provider of the model refused it]';

describe('what a session was refused', () => {
  it.each(['image', 'context', 'content', 'request'] as const)(
    'is told by the details of its error: %s',
    (refused) => {
      expect(refusedIn({ details: { reason: 'x', refused } })).toBe(refused);
    },
  );

  it.each([{}, { refused: 'nothing' }, { refused: true }])('is nothing else: %j', (details) => {
    expect(refusedIn({ details })).toBeUndefined();
  });
});

describe('a session of which nothing was refused', () => {
  it('shows everything', () => {
    const session = new Session().answered('a', { image }).answered('b');
    expect(session.state.refusals).toEqual(NO_REFUSALS);
    expect(session.shownNow).toEqual([user('a', image), signed('a'), user('b'), signed('b'), user('now')]);
  });

  it('shows what failed for another reason as well', () => {
    const session = new Session().answered('a');
    session.tell({ type: 'turn.start', turnId: 'b', text: 'b' });
    session.fails('b', { reason: 'overloaded', status: 529 }, 'So');
    expect(session.state.refusals).toEqual(NO_REFUSALS);
    expect(session.shownNow.slice(2)).toEqual([
      user('b'),
      said('So [cut off: this reply failed]'),
      user('now'),
    ]);
  });
});

describe('the first refusal in a row', () => {
  it('leaves the refused turn out, and nothing else', () => {
    const session = new Session().answered('a', { image }).refused('bad', 'content');
    expect(session.state.refusals).toEqual({ inARow: 1, maxTokens: null });
    expect(session.shownNow).toEqual([user('a', image), signed('a'), user('now')]);
  });

  it('leaves all of the turn out: steps, results, and what was said before it failed', () => {
    const session = new Session().answered('a');
    session.tell({ type: 'turn.start', turnId: 'b', text: 'b' });
    session.askForTools('b', 1, 'I look.');
    for (const callId of ['b-once', 'b-again']) {
      const outcome = { status: 'failed', reason: 'no' } as const;
      session.tell({ type: 'tool-call.settle', turnId: 'b', callId, outcome });
    }
    session.fails('b', { refused: 'request' }, 'So');
    const [, , ...turn] = session.state.transcript;
    expect(turn.map(({ role, leftOut }) => [role, leftOut])).toEqual([
      ['user', true],
      ['assistant', true],
      ['tool', true],
      ['tool', true],
      ['assistant', true],
    ]);
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('now')]);
  });

  it('leaves out what was said before it and never answered: it was sent as one message with it', () => {
    const session = new Session().answered('a');
    session.tell({ type: 'turn.start', turnId: 'b', text: 'b' });
    session.fails('b', { reason: 'overloaded' });
    session.refused('c', 'content');
    session.tell({ type: 'turn.start', turnId: 'd', text: 'd' });
    session.tell({ type: 'turn.cancel', turnId: 'd', reason: 'enough', partial: '' });
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('d\n\nnow')]);
    expect(session.refused('e', 'content').shownNow).toEqual([user('a'), unsigned('a'), user('now')]);
  });

  it('leaves out the whole turn where a correction was refused, not the correction alone', () => {
    const session = new Session().answered('a').corrected('b', 'B.').fails('b', { refused: 'content' });
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('now')]);
  });

  it('leaves out what was said before it where the reply that was corrected was empty', () => {
    const session = new Session().answered('a');
    session.tell({ type: 'turn.start', turnId: 'lost', text: 'lost' });
    session.fails('lost', { reason: 'overloaded' });
    session.corrected('b', '').fails('b', { refused: 'content' });
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('now')]);
  });

  it('leaves in what was said before it where the turn was answered before it was refused', () => {
    const session = new Session().answered('a');
    session.tell({ type: 'turn.start', turnId: 'b', text: 'b' });
    session.fails('b', { reason: 'overloaded' });
    session.tell({ type: 'turn.start', turnId: 'c', text: 'c' });
    session.fails('c', { refused: 'content' }, 'So');
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('b\n\nnow')]);
  });

  it('is over with the next turn that is answered, and the refused one stays left out', () => {
    const session = new Session().answered('a', { image }).refused('bad', 'content').answered('b');
    expect(session.state.refusals).toEqual(NO_REFUSALS);
    expect(session.shownNow).toEqual([user('a', image), signed('a'), user('b'), signed('b'), user('now')]);
  });

  it('is not over with a step, because the next one of the turn may be refused each time', () => {
    const session = new Session().answered('a', { image });
    for (const [index, turnId] of ['x', 'y', 'z'].entries()) {
      session.tell({ type: 'turn.start', turnId, text: turnId });
      session.askForTools(turnId);
      expect(session.state.refusals.inARow).toBe(index);
      session.fails(turnId, { refused: 'request' });
    }
    expect(session.state.refusals.inARow).toBe(3);
    expect(session.shownNow).toEqual([user('now')]);
  });

  it('is not over with a failure of another kind, nor with a turn that is cancelled', () => {
    const session = new Session().answered('a').refused('bad', 'content');
    session.tell({ type: 'turn.start', turnId: 'b', text: 'b' });
    session.fails('b', { reason: 'overloaded' });
    session.tell({ type: 'turn.start', turnId: 'c', text: 'c' });
    session.tell({ type: 'turn.cancel', turnId: 'c', reason: 'enough', partial: '' });
    expect(session.state.refusals.inARow).toBe(1);
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('b\n\nc\n\nnow')]);
  });

  it('is forgotten with a reset', () => {
    const session = new Session().answered('a').refused('bad', 'context', { shownTokens: 50 });
    session.tell({ type: 'session.reset', partial: '' });
    expect(session.state.refusals).toEqual(NO_REFUSALS);
    expect(session.shownNow).toEqual([user('now')]);
  });
});

describe('a refused image', () => {
  it('is left out with all others, and the words around them stay', () => {
    const session = new Session().answered('a', { image });
    session.tell({ type: 'turn.start', turnId: 'b', text: 'And this?', image });
    session.fails('b', { refused: 'image' });
    expect(session.state.transcript.map(({ leftOut }) => leftOut)).toEqual([undefined, undefined, undefined]);
    expect(session.shownNow).toEqual([
      user(`a\n\n${LEFT_OUT}`),
      signed('a'),
      user(`And this?\n\n${LEFT_OUT}\n\nnow`),
    ]);
  });

  it('stays left out when the next turn is answered', () => {
    const session = new Session().answered('a', { image }).refused('b', 'image').answered('c');
    expect(session.shownNow).toEqual([
      user(`a\n\n${LEFT_OUT}`),
      signed('a'),
      user('b\n\nc'),
      signed('c'),
      user('now'),
    ]);
  });

  it('does not keep a later one out', () => {
    const session = new Session().answered('a', { image }).refused('b', 'image').answered('c', { image });
    expect(session.shownNow.at(-3)).toEqual(user('b\n\nc', image));
  });

  it('is not to blame where none is shown: then the turn is left out', () => {
    const session = new Session().answered('a').refused('b', 'image');
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('now')]);
    const again = new Session().answered('a', { image }).refused('b', 'image').refused('c', 'image');
    expect(again.state.transcript.map(({ leftOut }) => leftOut)).toEqual([undefined, undefined, true, true]);
  });
});

it('an image is not to blame where the refused request had none', () => {
  const session = new Session().answered('a', { image }).refused('x', 'content').refused('y', 'content');
  session.refused('z', 'image');
  expect(session.state.transcript.map(({ leftOut }) => leftOut)).toEqual([
    ...[undefined, undefined],
    ...[true, true, true],
  ]);
  expect(session.state.transcript[0]).not.toHaveProperty('imagesLeftOut');
});

describe('the second refusal in a row', () => {
  const refusedTwice = () =>
    new Session().answered('a', { image }).refused('x', 'request').refused('y', 'request');

  it('leaves images and opaque data out as well', () => {
    const session = refusedTwice();
    expect(session.state.refusals.inARow).toBe(2);
    expect(session.shownNow).toEqual([user(`a\n\n${LEFT_OUT}`), unsigned('a'), user('now')]);
  });

  it('leaves out those of the message that is sent now, too', () => {
    const session = refusedTwice();
    session.tell({ type: 'turn.start', turnId: 'b', text: 'b', image });
    const { transcript, refusals } = session.state;
    const shown = modelConversation(transcript, { source, caution: cautionAfter(refusals) });
    expect(shown.at(-1)).toEqual(user(`b\n\n${LEFT_OUT}`));
  });

  it('keeps them out once a turn was answered without them', () => {
    const session = refusedTwice().answered('b', { image });
    expect(session.state.refusals).toEqual(NO_REFUSALS);
    expect(session.shownNow).toEqual([
      user(`a\n\n${LEFT_OUT}`),
      unsigned('a'),
      user(`b\n\n${LEFT_OUT}`),
      // It was not there when the request was accepted: nothing speaks against it.
      signed('b'),
      user('now'),
    ]);
  });
});

describe('the third refusal in a row', () => {
  const refusedThrice = () =>
    new Session()
      .answered('a', { image })
      .refused('x', 'request')
      .refused('y', 'request')
      .refused('z', 'request');

  it('leaves all out but the newest message', () => {
    expect(refusedThrice().shownNow).toEqual([user('now')]);
  });

  it('shows a turn its own steps', () => {
    const session = refusedThrice();
    session.tell({ type: 'turn.start', turnId: 'b', text: 'b' });
    session.askForTools('b');
    const { transcript } = session.state;
    const shown = modelConversation(transcript, { source, caution: 'newest-alone' });
    expect(shown.map(({ role }) => role)).toEqual(['user']);
    for (const callId of ['b-once', 'b-again']) {
      const outcome = { status: 'failed', reason: 'no' } as const;
      session.tell({ type: 'tool-call.settle', turnId: 'b', callId, outcome });
    }
    expect(
      modelConversation(session.state.transcript, { source, caution: 'newest-alone' }).map(
        ({ role }) => role,
      ),
    ).toEqual(['user', 'assistant', 'tool', 'tool']);
  });

  it('keeps all before it out once a turn was answered, and what that turn went without itself', () => {
    const session = refusedThrice().answered('b', { image });
    expect(session.state.refusals).toEqual(NO_REFUSALS);
    expect(session.shownNow).toEqual([user(`b\n\n${LEFT_OUT}`), signed('b'), user('now')]);
  });
});

describe('the fourth refusal in a row', () => {
  it('blames the newest message alone: the rest is shown again, without what was refused', () => {
    const session = new Session().answered('a', { image });
    for (const turnId of ['w', 'x', 'y', 'z']) session.refused(turnId, 'content');
    expect(session.state.refusals.inARow).toBe(4);
    expect(session.shownNow).toEqual([user('a', image), signed('a'), user('now')]);
  });

  it('leaves out the newest message alone: nothing else was sent', () => {
    const session = new Session();
    for (const turnId of ['w', 'x', 'y']) session.refused(turnId, 'content');
    session.tell({ type: 'turn.start', turnId: 'lost', text: 'lost' });
    session.fails('lost', { reason: 'overloaded' });
    expect(session.refused('z', 'content').shownNow).toEqual([user('lost\n\nnow')]);
  });

  it('begins the steps anew', () => {
    const cautions = [];
    const session = new Session();
    for (let turn = 0; turn < 8; turn += 1) {
      cautions.push(cautionAfter(session.state.refusals));
      session.refused(`t${turn}`, 'content');
    }
    expect(cautions).toEqual([
      'none',
      ...['refused-turns', 'bare', 'newest-alone'],
      ...['refused-turns', 'bare', 'newest-alone'],
      'refused-turns',
    ]);
  });
});

describe('a conversation that is too long', () => {
  const maxTokens = (session: Session) => session.state.refusals.maxTokens;

  it('is shown with half as many tokens from then on', () => {
    const session = new Session().answered('a').refused('b', 'context', { shownTokens: 1_001 });
    expect(maxTokens(session)).toBe(500);
    // The half has room for it, and its tools may have done something.
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('b\n\nnow')]);
    expect(maxTokens(session.answered('c'))).toBe(500);
  });

  it('is shown without a turn that is most of it: what came before is not to blame', () => {
    const huge = 'x'.repeat(4_000);
    const session = new Session().answered('a').refused(huge, 'context', { shownTokens: 1_001 });
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('now')]);
  });

  it('is shown without a corrected turn that is most of it, however short the correction', () => {
    const session = new Session().answered('a').corrected('b', 'x'.repeat(4_000));
    session.fails('b', { refused: 'context', shownTokens: 1_001 });
    expect(session.shownNow).toEqual([user('a'), signed('a'), user('now')]);
  });

  it('is shown without the turn that is refused again for its length', () => {
    const session = new Session().answered('a').refused('b', 'context', { shownTokens: 1_001 });
    session.refused('c', 'context', { shownTokens: 500 });
    expect(session.shownNow).toEqual([user('a'), unsigned('a'), user('now')]);
  });

  it('is shown with half of what was still too long', () => {
    const session = new Session();
    for (const shownTokens of [1_000, 500, 250])
      session.refused(`${shownTokens}`, 'context', { shownTokens });
    expect(maxTokens(session)).toBe(125);
  });

  it('is not shown with more again because of one huge message', () => {
    const session = new Session().refused('a', 'context', { shownTokens: 1_000 });
    session.answered('b').refused('huge', 'context', { shownTokens: 90_000 });
    expect(maxTokens(session)).toBe(500);
  });

  it.each([{}, { shownTokens: '12' }, { shownTokens: null }])(
    'keeps its bound where nobody says how long it was: %j',
    (details) => {
      const session = new Session().refused('a', 'context', { shownTokens: 100 });
      expect(maxTokens(session.refused('b', 'context', details))).toBe(50);
    },
  );

  it('is shown at least in its newest message', () => {
    expect(maxTokens(new Session().refused('a', 'context', { shownTokens: 1 }))).toBe(1);
    expect(maxTokens(new Session().refused('a', 'context', { shownTokens: 0 }))).toBe(1);
  });
});

it('the log and the view of a session keep what the model is not shown', () => {
  const session = new Session().answered('a').refused('bad', 'content');
  const envelopes = session.events.map((event, index) => ({
    sessionId: 's',
    seq: index + 1,
    time: 1,
    event,
    meta: null,
  }));
  const { history } = foldedView(envelopes, envelopes.length);
  expect(history).toEqual([
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 're: a' },
    { role: 'user', content: 'bad', leftOut: true },
  ]);
});
