import { expect, it } from 'vitest';
import { encodeFeed, encodeMessage, parseMessage } from '../../../../src/runtime/cluster/node-messages.ts';

/** What the other node gets as the payload. */
function received(payload: unknown): unknown {
  const message = parseMessage(encodeMessage({ type: 'told', from: 1, topic: 't', payload }));
  return message?.type === 'told' ? message.payload : undefined;
}

/** As a client or a tool may send it. */
const FOREIGN = String.raw`{"\u0000set":[1,2],"other":null}`;

it.each([
  ['a set', new Set(['a', 'b'])],
  ['a set of sets', new Set([new Set([1])])],
  ['an object with the key that marks sets', JSON.parse(FOREIGN)],
  ['one in another one', JSON.parse(String.raw`{"\u0000set":${FOREIGN}}`)],
  ['one that looks as if it was escaped', JSON.parse(String.raw`{"\u0000set":{"entries":[["a",1]]}}`)],
  ['one in a list, and a set beside it', [JSON.parse(FOREIGN), { scopes: new Set(['chat']) }]],
  ['one with a field that objects have', JSON.parse(String.raw`{"\u0000set":1,"__proto__":{"a":1}}`)],
  ['a text that is the key', { text: '\u0000set' }],
])('%s arrives as it was', (_, payload) => {
  expect(received(payload)).toStrictEqual(payload);
});

it('what a client or a tool has sent arrives as it was in a feed, too', () => {
  const items = [['s', [{ event: { value: JSON.parse(FOREIGN) } }]]];
  const text = encodeFeed({ from: 1, n: 7 }, JSON.stringify(items).slice(1, -1));
  expect(parseMessage(text)).toStrictEqual({ type: 'feed', from: 1, n: 7, items });
});

it.each(['1', 'null', '{}', '{"entries":1}', '{"entries":[1]}'])(
  'an object that a node of the release before has not escaped is left as it is: %s',
  (held) => {
    const text = String.raw`{"type":"told","from":1,"topic":"t","payload":{"\u0000set":${held}}}`;
    expect(parseMessage(text)).toMatchObject({ payload: { '\u0000set': JSON.parse(held) } });
  },
);

it('sets are written as earlier releases read them', () => {
  const text = encodeMessage({ type: 'told', from: 1, topic: 't', payload: { scopes: new Set(['chat']) } });
  expect(text).toContain(String.raw`"payload":{"scopes":{"\u0000set":["chat"]}}`);
});
