import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/core/errors.ts';
import { images } from '../providers/fakes/images.ts';
import { expectAccessible } from '../support/console/accessibility.ts';
import { openChat } from '../support/console/chat-page.ts';

describe('an empty session', () => {
  it('shows the agent and three messages to begin with', async () => {
    await using chat = await openChat({ agent: AGENT });
    const { page } = chat;
    await page.getByRole('heading', { name: 'Gardener' }).waitFor();
    const list = page.getByRole('list', { name: 'Messages to begin with' });
    expect(await list.getByRole('button').allTextContents()).toEqual(['one', 'two', 'three']);
    await list.getByRole('button', { name: 'two' }).click();
    expect((await chat.model.call(0)).request.messages).toMatchObject([{ role: 'user', text: 'two' }]);
    await page.getByRole('button', { name: 'offline · 2 tools' }).click();
    const dialog = page.getByRole('dialog', { name: 'Gardener' });
    for (const text of ['Knows all plants.', 'You are a gardener.', 'look', 'pay', 'asks first'])
      await dialog.getByText(text, { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // The Escape of the dialog did not cancel the reply.
    (await chat.model.call(0)).answer('Two it is.');
    await page.getByText('Two it is.').waitFor();
    expect(chat.errors).toEqual([]);
  });
});

describe('a tool call in the chat', () => {
  it('is one line of its arguments and its result, in words of its own when it was denied', async () => {
    await using chat = await openChat();
    await chat.say('Look and pay');
    (await chat.model.call(0)).askFor(
      { name: 'look', arguments: { at: 'the garden', far: true } },
      { name: 'pay', arguments: { to: 'Ann' } },
    );
    (await chat.tools.call(0)).answer('roses\nand bees');
    const look = chat.conversation.locator('details', { hasText: 'look' });
    await look.getByText('at: the garden, far: true').waitFor();
    await look.getByText('→ roses and bees').waitFor();
    await chat.conversation.getByRole('button', { name: 'Deny' }).click();
    const pay = chat.conversation.locator('details', { hasText: 'pay' });
    await pay.getByText('denied', { exact: true }).waitFor();
    expect(await pay.getByText('failed').count()).toBe(0);
    (await chat.model.call(1)).answer('Done.');
    expect(chat.errors).toEqual([]);
  });
});

describe('a turn in the chat', () => {
  it('takes the same time before and after a reload', async () => {
    await using chat = await openChat();
    await chat.say('Tell me');
    (await chat.model.call(0)).answer('Yes.');
    const footer = chat.conversation.getByRole('contentinfo').or(chat.conversation.locator('footer'));
    await footer.getByRole('button', { name: 'Fork from here' }).waitFor();
    const before = await footer.textContent();
    await chat.page.reload();
    await footer.getByRole('button', { name: 'Fork from here' }).waitFor();
    expect(await footer.textContent()).toBe(before);
  });

  it('is tried again after it failed', async () => {
    await using chat = await openChat();
    await chat.say('first');
    (await chat.model.call(0)).fail(new ServiceError('AGENT_ERROR', 'No answer.', { reason: 'it is down' }));
    await chat.conversation.getByRole('button', { name: 'Retry' }).click();
    const { request } = await chat.model.call(1);
    expect(request.messages).toMatchObject([{ role: 'user', text: 'first\n\nfirst' }]);
  });

  it('is not tried again if it has no message of its own', async () => {
    await using chat = await openChat();
    const { conversation } = chat;
    await chat.say('first');
    (await chat.model.call(0)).answer('Yes.');
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const asked = chat.service.post('/v1/chat/completions', {
      model: 'default',
      metadata: { session_id: 'given' },
      messages: [
        { role: 'user', content: 'Where is it?' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'in the drawer' },
      ],
    });
    (await chat.model.call(1)).fail(new ServiceError('AGENT_ERROR', 'No answer.', { reason: 'it is down' }));
    expect((await asked).status).toBe(500);
    await chat.page.goto(`${chat.link.url}/#/chat/given`);
    await conversation.getByText('it is down').waitFor();
    await conversation.getByRole('button', { name: 'Fork from here' }).waitFor();
    expect(await conversation.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    expect(chat.errors).toEqual([]);
  });

  it('keeps its image when it is tried again, and when it is edited in a fork', async () => {
    await using chat = await openChat();
    const { conversation } = chat;
    const imageData = images.png;
    const sent = chat.service.post('/api/message-sync', {
      message: 'what is it?',
      imageData,
      sessionId: 'demo',
    });
    (await chat.model.call(0)).fail(new ServiceError('AGENT_ERROR', 'No answer.', { reason: 'it is down' }));
    await sent;
    await conversation.getByRole('button', { name: 'Retry' }).click();
    const again = await chat.model.call(1);
    expect(again.request.messages.at(-1)).toMatchObject({
      role: 'user',
      images: [imageData, imageData],
    });
    again.answer('A pixel.');
    await conversation.getByText('A pixel.').waitFor();
    await conversation.getByRole('button', { name: 'Edit' }).last().click();
    const editor = conversation.getByRole('textbox', { name: 'Edited message' });
    await editor.fill('and its colour?');
    await editor.press('Enter');
    const edited = await chat.model.call(2);
    const last = edited.request.messages.at(-1);
    expect(last).toMatchObject({
      text: expect.stringContaining('and its colour?'),
      images: [imageData, imageData],
    });
    edited.answer('Blue.');
    await conversation.getByText('Blue.').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('is edited in a fork, which has what came before', async () => {
    await using chat = await openChat();
    const { page, conversation } = chat;
    await chat.say('first');
    (await chat.model.call(0)).answer('the first answer');
    await conversation.getByText('the first answer').waitFor();
    await chat.say('second');
    (await chat.model.call(1)).answer('the second answer');
    await conversation.getByText('the second answer').waitFor();
    await conversation.getByRole('button', { name: 'Edit' }).last().click();
    const editor = conversation.getByRole('textbox', { name: 'Edited message' });
    await editor.fill('something else');
    await editor.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^fork-/ }).waitFor();
    const { request } = await chat.model.call(2);
    const texts = request.messages.map((message) => ('text' in message ? message.text : ''));
    expect(texts.join()).toContain('first');
    expect(texts.join()).not.toContain('second');
    expect(texts.at(-1)).toBe('something else');
    expect(chat.errors).toEqual([]);
  });

  it('keeps what was edited while the fork is refused', async () => {
    await using chat = await openChat();
    const { page, conversation } = chat;
    await chat.say('first');
    (await chat.model.call(0)).answer('the first answer');
    await conversation.getByText('the first answer').waitFor();
    await conversation.getByRole('button', { name: 'Edit' }).click();
    const editor = conversation.getByRole('textbox', { name: 'Edited message' });
    await editor.fill('something else');
    await page.route('**/api/message', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }));
    await editor.press('Enter');
    await page.getByRole('alert').getByText('is not available (502)').waitFor();
    expect(await editor.inputValue()).toBe('something else');
    await page.unrouteAll();
    await editor.press('Enter');
    expect((await chat.model.call(1)).request.messages).toMatchObject([{ text: 'something else' }]);
    await editor.waitFor({ state: 'detached' });
  });

  it('has code without colours where it is so long that they would hold up the page', async () => {
    await using chat = await openChat();
    const { conversation } = chat;
    await chat.say('Show me');
    const long = 'const seven = 7;\n'.repeat(3_000);
    (await chat.model.call(0)).answer(`\`\`\`js\n${long}\`\`\`\n\n\`\`\`js\nlet short;\n\`\`\`\n`);
    await conversation.locator('.hljs-keyword', { hasText: 'let' }).waitFor();
    expect(await conversation.locator('.hljs-keyword', { hasText: 'const' }).count()).toBe(0);
  });

  it('has code in colours, and copies it and the reply', async () => {
    await using chat = await openChat({ context: { permissions: ['clipboard-read', 'clipboard-write'] } });
    const { page, conversation } = chat;
    await chat.say('Show me');
    (await chat.model.call(0)).answer('Look:\n\n```js\nconst seven = 7; // <b>\n```\n');
    await conversation.locator('.hljs-keyword', { hasText: 'const' }).waitFor();
    await conversation.locator('.hljs-comment', { hasText: '// <b>' }).waitFor();
    await conversation.getByRole('button', { name: 'Copy the code' }).click();
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(copied).toBe('const seven = 7; // <b>');
    await conversation.getByRole('button', { name: 'Copy the reply' }).click();
    await expect.poll(copied).toBe('Look:\n\n```js\nconst seven = 7; // <b>\n```');
    expect(chat.errors).toEqual([]);
  });
});

describe('the conversation', () => {
  it('is reset only after a question', async () => {
    await using chat = await openChat();
    const { page } = chat;
    await chat.say('first');
    (await chat.model.call(0)).answer('1');
    await chat.conversation.getByRole('button', { name: 'Fork from here' }).waitFor();
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await chat.say('second');
    (await chat.model.call(1)).answer('2');
    expect((await chat.model.call(1)).request.messages).toHaveLength(3);
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByRole('button', { name: 'Reset the conversation' }).click();
    await chat.conversation.getByText('The conversation was reset.').waitFor();
    expect(chat.errors).toEqual([]);
  });
});

describe('a text from right to left', () => {
  it('is laid out so in the message box, the message, each block of the reply, and the title', async () => {
    await using chat = await openChat();
    const { page, conversation } = chat;
    await page.getByRole('textbox', { name: 'Message' }).fill('مرحبا، من أنت؟');
    await page.locator('textarea:dir(rtl)').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('textarea:dir(ltr)').waitFor();
    (await chat.model.call(0)).answer('أنا هنا:\n\n- واحد\n\n- اثنان\n\nThat was Arabic.');
    await conversation.locator('p:dir(rtl)', { hasText: 'من أنت؟' }).waitFor();
    await conversation.locator('p:dir(rtl)', { hasText: 'أنا هنا' }).waitFor();
    await conversation.locator('ul:dir(rtl) p:dir(rtl)', { hasText: 'واحد' }).waitFor();
    await conversation.locator('p:dir(ltr)', { hasText: 'That was Arabic.' }).waitFor();
    const title = page.getByRole('region', { name: 'Sessions' }).getByText('من أنت؟');
    expect(await title.getAttribute('dir')).toBe('auto');
    expect(chat.errors).toEqual([]);
  });
});

describe('Escape', () => {
  it('in another field than the message box does not cancel the reply', async () => {
    await using chat = await openChat();
    await chat.say('first');
    (await chat.model.call(0)).answer('1');
    await chat.conversation.getByText('1', { exact: true }).waitFor();
    await chat.say('second');
    const call = await chat.model.call(1);
    await chat.conversation.getByRole('button', { name: 'Edit' }).first().click();
    await chat.page.keyboard.press('Escape');
    await chat.conversation.getByRole('textbox').waitFor({ state: 'detached' });
    call.answer('the whole reply');
    await chat.conversation.getByText('the whole reply').waitFor();
  });
});

describe('the keys', () => {
  it('are listed by ?, and open panels, sessions and the message box', async () => {
    await using chat = await openChat();
    const { page } = chat;
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.getByRole('main').focus();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.getByText('Show the keys').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('3');
    await page.getByRole('heading', { level: 1, name: 'Timeline' }).waitFor();
    await page.keyboard.press('/');
    const box = page.getByRole('textbox', { name: 'Message' });
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('message');
    await page.keyboard.type('2?n');
    expect(await box.inputValue()).toBe('2?n');
    await page.getByRole('main').focus();
    await page.keyboard.press('n');
    await page.getByRole('heading', { level: 1, name: /^[0-9a-f]{8}$/ }).waitFor();
    expect(chat.errors).toEqual([]);
  });
});

describe('the chat at 390 px', () => {
  it('can be used wholly: nothing is cut, and every button is within reach', async () => {
    await using chat = await openChat({ agent: AGENT, context: { viewport: { width: 390, height: 760 } } });
    const { page } = chat;
    await chat.say('Pay Ann');
    (await chat.model.call(0)).askFor({ name: 'pay', arguments: { to: 'Ann'.repeat(60) } });
    await chat.conversation.getByRole('button', { name: 'Approve' }).click();
    (await chat.tools.call(0)).answer('paid');
    (await chat.model.call(1)).answer(`\`\`\`sh\n${'echo '.repeat(60)}\n\`\`\``);
    await chat.conversation.getByRole('button', { name: 'Fork from here' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    for (const button of await page.getByRole('button').all()) {
      await button.scrollIntoViewIfNeeded();
      const box = await button.boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
    }
    await expectAccessible(page);
  });
});

const AGENT = `
name: Gardener
description: Knows all plants.
systemPrompt: You are a gardener.
suggestions: [one, two, three, four]
`;
