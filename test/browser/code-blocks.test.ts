import { describe, expect, it } from 'vitest';
import { openChat } from '../support/console/chat-page.ts';

describe('a block of code in a reply', () => {
  it('gets its colours in one piece, and only when no more of it is to come', async () => {
    await using chat = await openChat();
    const code = chat.conversation.locator('pre code');
    await chat.say('Write code');
    const call = await chat.model.call(0);
    call.say('```js\nconst first = 1;\n');
    await code.getByText('first').waitFor();
    // The highlighter would be loaded by now.
    await chat.page.waitForTimeout(1_000);
    call.say('const second = 2;\n');
    await code.getByText('second').waitFor();
    await chat.page.waitForTimeout(1_000);
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
