import { describe, expect, it } from 'vitest';
import { closeInOrder, closeTogether, disposing } from '../../../src/app/close-in-order.ts';

const failing = (name: string) => async () => {
  throw new Error(name);
};

describe('parts that are closed one after another', () => {
  it('are all closed, in their order, when one fails', async () => {
    const closed: string[] = [];
    const closing = closeInOrder(
      () => closed.push('sockets'),
      failing('tool servers'),
      disposing({ [Symbol.asyncDispose]: async () => void closed.push('log') }),
      disposing(undefined),
    );
    await expect(closing).rejects.toThrow(/^tool servers$/);
    expect(closed).toEqual(['sockets', 'log']);
  });

  it('say each failure', async () => {
    const closing = closeInOrder(failing('tool servers'), failing('log'));
    await expect(closing).rejects.toMatchObject({
      message: '2 parts could not be closed',
      errors: [{ message: 'tool servers' }, { message: 'log' }],
    });
  });
});

describe('parts that are closed together', () => {
  it('are waited for, also after one has failed', async () => {
    const last = Promise.withResolvers<void>();
    let isSettled = false;
    const closing = closeTogether(failing('first'), () => last.promise).finally(() => {
      isSettled = true;
    });
    closing.catch(() => undefined);
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    last.resolve();
    await expect(closing).rejects.toThrow(/^first$/);
  });
});
