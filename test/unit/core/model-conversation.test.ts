import { describe, expect, it } from 'vitest';
import {
  type ConversationOptions,
  modelConversation,
  requestedCalls,
  withUserText,
} from '../../../src/core/conversation/model-conversation.ts';
import type {
  AssistantMessage,
  AssistantPart,
  ModelMessage,
  ToolMessage,
  UserMessage,
} from '../../../src/core/conversation/model-message.ts';
import { NO_REPLY, said } from '../../support/models/steps.ts';

const source = { api: 'chat', provider: 'p', model: 'm' };
const image = { base64: 'aaaa', mimeType: 'image/png' } as const;
const other = { base64: 'bbbb', mimeType: 'image/jpeg' } as const;
const LEFT_OUT = '[an image was left out: the provider of the model refused it]';

const user = (text: string, more: Partial<UserMessage> = {}): UserMessage => ({
  role: 'user',
  text,
  ...more,
});
const call = (callId: string, name = 'look'): AssistantPart => ({
  type: 'toolCall',
  callId,
  name,
  arguments: { at: callId },
});
const text = (words: string): AssistantPart => ({ type: 'text', text: words });
const reply = (...parts: AssistantPart[]): AssistantMessage => ({ role: 'assistant', parts });
const result = (callId: string, name = 'look'): ToolMessage => ({
  role: 'tool',
  callId,
  name,
  text: `result of ${callId}`,
});

function shown(window: readonly ModelMessage[], options: Partial<ConversationOptions> = {}): ModelMessage[] {
  return modelConversation(window, { source, caution: 'none', ...options });
}

describe('a conversation as the model is shown it', () => {
  it('is the same where there is nothing to do', () => {
    const window = [
      user('hello', { images: [image] }),
      reply(text('I look.'), call('a'), call('b')),
      result('a'),
      result('b'),
      reply(text('Seen.'), { type: 'refusal', text: 'No more.' }),
      user('thanks'),
    ];
    expect(shown(window)).toEqual(window);
  });

  it('changes nothing of what it is made of', () => {
    const window = [user('a', { images: [image] }), user('b'), reply(call('a')), result('a'), user('c')];
    const before = structuredClone(window);
    shown(window, { caution: 'bare' });
    expect(window).toEqual(before);
  });
});

describe('messages of the user that follow one another', () => {
  it('are one, with all that they say and show', () => {
    expect(shown([user('a', { images: [image] }), user('b'), user('c', { images: [other] })])).toEqual([
      user('a\n\nb\n\nc', { images: [image, other] }),
    ]);
  });

  it('are one also where an image has no words', () => {
    expect(shown([user('', { images: [image] }), user('b')])).toEqual([user('b', { images: [image] })]);
    expect(shown([user('a'), user('', { images: [image] })])).toEqual([user('a', { images: [image] })]);
  });

  it('are one where what stood between them is not shown', () => {
    const thought: AssistantPart = { type: 'reasoning', text: 'Hm.' };
    for (const between of [reply(thought), reply(call('a')), { ...said('Hi!'), leftOut: true as const }])
      expect(shown([user('a'), between, user('b')])).toEqual([user('a\n\nb')]);
  });

  it('have a note of the model before them where a turn ended with the result of a tool', () => {
    const window = [user('a'), reply(call('1')), result('1'), user('b'), user('c')];
    expect(shown(window)).toEqual([user('a'), reply(call('1')), result('1'), NO_REPLY, user('b\n\nc')]);
  });
});

describe('a reply that stands first', () => {
  it('has a note in place of the message that it answers', () => {
    const note = user('[no message: the conversation begins with the reply]');
    expect(shown([said('Hello.'), user('a')])).toEqual([note, said('Hello.'), user('a')]);
    expect(shown([reply(call('a')), result('a')])).toEqual([note, reply(call('a')), result('a')]);
  });
});

describe('replies that follow one another', () => {
  it('are one', () => {
    expect(shown([user('a'), reply(text('One.')), reply(text('Two.'), call('1')), result('1')])).toEqual([
      user('a'),
      reply(text('One.'), text('Two.'), call('1')),
      result('1'),
    ]);
  });

  it('keep the source of the opaque data in them, whichever has some', () => {
    const opaque = { ...reply({ type: 'opaque', data: { signature: 'x' } }, text('One.')), source };
    const both = [...opaque.parts, text('Two.')];
    expect(shown([user('a'), opaque, said('Two.')])).toEqual([user('a'), { ...reply(...both), source }]);
    expect(shown([user('a'), said('Zero.'), opaque])).toEqual([
      user('a'),
      { ...reply(text('Zero.'), ...opaque.parts), source },
    ]);
  });
});

describe('a reply that was cut off', () => {
  it.each([
    ['cancelled', ' [cut off: the user cancelled this reply]'],
    ['failed', ' [cut off: this reply failed]'],
  ] as const)('says so when it was %s', (cut, note) => {
    expect(shown([user('a'), { ...said('Half a'), cut }, user('b')])).toEqual([
      user('a'),
      said(`Half a${note}`),
      user('b'),
    ]);
  });

  it('follows the results of its turn as a message of its own', () => {
    const window = [
      user('a'),
      reply(call('1')),
      result('1'),
      { ...said('So'), cut: 'failed' as const },
      user('b'),
    ];
    expect(shown(window)).toEqual([
      user('a'),
      reply(call('1')),
      result('1'),
      said('So [cut off: this reply failed]'),
      user('b'),
    ]);
  });
});

describe('an image that was left out', () => {
  it('leaves a note in its place, behind the words', () => {
    const message = user('Who is it?', { images: [image], imagesLeftOut: true });
    expect(shown([message])).toEqual([user(`Who is it?\n\n${LEFT_OUT}`)]);
  });

  it('leaves a note where there were no words', () => {
    expect(shown([user('', { images: [image], imagesLeftOut: true })])).toEqual([user(LEFT_OUT)]);
  });

  it('does not take those of the messages beside it along', () => {
    expect(
      shown([user('a', { images: [image], imagesLeftOut: true }), user('b', { images: [other] })]),
    ).toEqual([user(`a\n\n${LEFT_OUT}\n\nb`, { images: [other] })]);
  });
});

describe('tool calls and their results', () => {
  it('stand in the order of the calls, right behind them', () => {
    const window = [user('a'), reply(call('1'), call('2'), call('3')), result('3'), result('1'), result('2')];
    expect(shown(window).slice(2)).toEqual([result('1'), result('2'), result('3')]);
  });

  it('are shown in pairs: a call without a result is not shown, nor a result without a call', () => {
    const window = [user('a'), result('0'), reply(text('I look.'), call('1'), call('2')), result('2')];
    expect(shown(window)).toEqual([user('a'), reply(text('I look.'), call('2')), result('2')]);
  });

  it('are not shown where the log does not say what was asked for', () => {
    const window = [user('a'), reply(text('I look.'), call('1', '')), result('1', '')];
    expect(shown(window)).toEqual([user('a'), said('I look.')]);
  });

  it('have names that every provider accepts, the same in both', () => {
    const names = ['read file', '3d-print', 'größe', 'x'.repeat(80), ''];
    const [spaces = '', digit = '', umlaut = '', long = ''] = names.slice(0, 4).map((name) => {
      const [, step, answer] = shown([user('a'), reply(call('1', name)), result('1', name)]);
      const [part] = step?.role === 'assistant' ? step.parts : [];
      const called = part?.type === 'toolCall' ? part.name : undefined;
      expect(answer).toMatchObject({ role: 'tool', name: called });
      expect(called).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
      return called;
    });
    expect([spaces, digit, umlaut]).toEqual(['read_file', '_3d-print', 'gr__e']);
    expect(long).toHaveLength(64);
  });
});

describe('opaque data', () => {
  const opaque = { signature: 'x' };
  const parts: AssistantPart[] = [
    { type: 'opaque', data: opaque },
    { type: 'text', text: 'I look.', opaque },
    { ...call('1'), type: 'toolCall', callId: '1', name: 'look', arguments: {}, opaque },
  ];
  const bare: AssistantPart[] = [
    { type: 'text', text: 'I look.' },
    { type: 'toolCall', callId: '1', name: 'look', arguments: {} },
  ];
  const window = [user('a'), { ...reply(...parts), source }, result('1')];

  it('go back to the model they came from, in their places', () => {
    expect(shown(window)).toEqual(window);
  });

  it.each([{ ...source, api: 'responses' }, { ...source, provider: 'q' }, { ...source, model: 'n' }, null])(
    'go to no other: %j',
    (reader) => {
      expect(shown(window, { source: reader })).toStrictEqual([user('a'), reply(...bare), result('1')]);
    },
  );

  it('go to nobody where the log does not say whose they are', () => {
    expect(shown([user('a'), reply(...parts), result('1')])).toStrictEqual([
      user('a'),
      reply(...bare),
      result('1'),
    ]);
  });

  it('are no message by themselves', () => {
    const alone = { ...reply({ type: 'opaque', data: opaque }), source };
    expect(shown([user('a'), alone, user('b')])).toEqual([user('a\n\nb')]);
  });
});

describe('what the model thought aloud', () => {
  it('is never sent', () => {
    const thought: AssistantPart = { type: 'reasoning', text: 'Hm.' };
    const window = [user('a'), { ...reply(thought, text('Yes.'), thought), source }];
    expect(shown(window)).toEqual([user('a'), { ...said('Yes.'), source }]);
    expect(shown([user('a'), reply(thought)])).toEqual([user('a')]);
  });
});

describe('an empty text', () => {
  it('is no message', () => {
    expect(shown([user('a'), said(''), reply(), user('b')])).toEqual([user('a\n\nb')]);
  });
});

describe('what was left out', () => {
  const leftOut = true as const;

  it('is not shown: neither message nor call nor result', () => {
    const turn: ModelMessage[] = [user('bad'), reply(text('I look.'), call('1')), result('1'), said('So')];
    const window = [user('a'), said('A.'), ...turn.map((message) => ({ ...message, leftOut })), user('b')];
    expect(shown(window)).toEqual([user('a'), said('A.'), user('b')]);
  });
});

describe('a conversation of which something was refused', () => {
  const opaque: AssistantPart = { type: 'opaque', data: { signature: 'x' } };
  const newest = [{ ...reply(opaque, text('I look.'), call('1')), source }, result('1')];
  const window = [
    user('a', { images: [image] }),
    { ...reply(opaque, text('A.')), source },
    user('b', { images: [other] }),
    ...newest,
  ];

  it('is shown as it is at first: what was refused is marked', () => {
    expect(shown(window, { caution: 'refused-turns' })).toEqual(window);
  });

  it('is shown without images next, and without the opaque data of earlier turns', () => {
    expect(shown(window, { caution: 'bare' })).toEqual([
      user(`a\n\n${LEFT_OUT}`),
      said('A.'),
      user(`b\n\n${LEFT_OUT}`),
      ...newest,
    ]);
  });

  it('is shown from its newest message on at last, and bare', () => {
    expect(shown(window, { caution: 'newest-alone' })).toEqual([user(`b\n\n${LEFT_OUT}`), ...newest]);
  });

  it('is shown with the whole turn in which a reply was corrected', () => {
    const rejected = { ...reply(opaque, text('B.')), source };
    const turn = [...window, rejected, user('It is not JSON.', { correction: true })];
    const corrected = [user(`b\n\n${LEFT_OUT}`), ...newest, rejected, user('It is not JSON.')];
    expect(shown(turn, { caution: 'bare' }).slice(2)).toEqual(corrected);
    expect(shown(turn, { caution: 'newest-alone' })).toEqual(corrected);
  });
});

describe('text of the user at the end of a conversation', () => {
  it('follows a reply', () => {
    const conversation = [user('a'), reply(text('b'))];
    expect(withUserText(conversation, 'go on')).toEqual([...conversation, user('go on')]);
  });

  it('is joined with the message that it would follow', () => {
    expect(withUserText([user('a', { images: [image] })], 'go on')).toEqual([
      user('a\n\ngo on', { images: [image] }),
    ]);
  });

  it('does not stand directly behind the result of a tool', () => {
    const conversation = [user('a'), reply(call('b')), result('b')];
    expect(withUserText(conversation, 'go on')).toEqual([...conversation, NO_REPLY, user('go on')]);
  });
});

describe('the calls that a message asks for', () => {
  it('are those that the log tells all about, without what is opaque', () => {
    const opaque = { signature: 'x' };
    const parts: AssistantPart[] = [text('I look.'), { ...call('1'), ...{ opaque } }, call('2', '')];
    expect(requestedCalls(reply(...parts))).toStrictEqual([
      { callId: '1', name: 'look', arguments: { at: '1' } },
    ]);
  });

  it('shows each call its own result, where a server counts the ids of its calls from 0 in each reply', () => {
    const first = { ...result('call_0'), text: 'A' };
    const second = { ...result('call_0'), text: 'B' };
    const conversation = [
      ...[user('a'), reply(call('call_0')), first, reply(text('A it is'))],
      ...[user('b'), reply(call('call_0')), second],
    ];
    const shown = modelConversation(conversation, { source, caution: 'none' });
    expect(shown.flatMap((message) => (message.role === 'tool' ? [message.text] : []))).toEqual(['A', 'B']);
  });
});
