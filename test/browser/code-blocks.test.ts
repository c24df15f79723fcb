import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openChat } from '../support/console/chat-page.ts';

describe('a block of code in a reply', () => {
  it('gets its colours in one piece, and only when no more of it is to come', async () => {
    await using chat = await openChat();
    // From then on the highlighter is loaded.
    await chat.say('Write code');
    (await chat.model.call(0)).answer('```js\nconst earlier = 0;\n```');
    await chat.conversation.locator('pre code span', { hasText: 'const' }).first().waitFor();
    const code = chat.conversation.locator('pre code').nth(1);
    await chat.say('More');
    const call = await chat.model.call(1);
    call.say('```js\nconst first = 1;\n');
    await code.getByText('first').waitFor();
    call.say('const second = 2;\n');
    await code.getByText('second').waitFor();
    await drawn(chat.page);
    expect(await code.locator('span').count()).toBe(0);

    const plain = await code.elementHandle();
    call.answer('```');
    await code.locator('span', { hasText: 'const' }).first().waitFor();
    // A long block takes quadratic time where its spans are inserted one by one.
    expect(await plain?.evaluate((element) => element.isConnected)).toBe(false);
    expect(chat.errors).toEqual([]);
  });

  it('has its colours while the reply goes on after it', async () => {
    await using chat = await openChat();
    await chat.say('Write code');
    const call = await chat.model.call(0);
    call.say('```js\nconst first = 1;\n```\n\nAnd now');
    await chat.conversation.locator('pre code span', { hasText: 'const' }).first().waitFor();
    call.answer(' you.');
    await chat.conversation.getByText('And now you.').waitFor();
    expect(chat.errors).toEqual([]);
  });
});

/** Resolves when the page has drawn what it has, with all effects of that. */
function drawn(page: Page): Promise<void> {
  return page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))',
  );
}
