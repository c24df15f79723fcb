import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Outbox } from '../../../../src/runtime/cluster/outbox.ts';

function start() {
  const sent: string[] = [];
  const link = {
    isUp: true,
    publish: (subject: string, text: string) => void sent.push(`${subject}: ${text}`),
  };
  return { sent, link, outbox: new Outbox(link) };
}

it('sends what is said in one turn of the event loop at its end, in order', async () => {
  const { sent, outbox } = start();
  outbox.publish('a', '1');
  await Promise.resolve();
  outbox.publish('b', '2');
  expect(sent).toEqual([]);
  await nextTurn();
  expect(sent).toEqual(['a: 1', 'b: 2']);
  outbox.publish('a', '3');
  await nextTurn();
  expect(sent).toEqual(['a: 1', 'b: 2', 'a: 3']);
});

it('sends what is only then made together with the rest', async () => {
  const { sent, outbox } = start();
  outbox.soon(() => {
    outbox.publish('a', 'made');
    outbox.soon(() => outbox.publish('a', 'made by that'));
  });
  outbox.publish('a', 'said');
  await nextTurn();
  expect(sent).toEqual(['a: said', 'a: made', 'a: made by that']);
});

it('sends what is left when it ends', async () => {
  const { sent, outbox } = start();
  outbox.publish('a', '1');
  outbox[Symbol.dispose]();
  expect(sent).toEqual(['a: 1']);
  await nextTurn();
  expect(sent).toEqual(['a: 1']);
});

it('knows whether anything can be sent', () => {
  const { link, outbox } = start();
  link.isUp = false;
  expect(outbox.isUp).toBe(false);
});
