import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openChat } from '../support/console/chat-page.ts';

describe('the message box', () => {
  it('has the focus at the start, and after Send', async () => {
    await using chat = await openChat();
    await expectFocus(chat.page, 'Message');
    await chat.page.keyboard.type('Tell me');
    await chat.page.getByRole('button', { name: 'Send' }).click();
    await chat.model.call(0);
    await expectFocus(chat.page, 'Message');
    expect(chat.errors).toEqual([]);
  });

  it('a double click on Cancel only cancels, and the focus goes to the message box', async () => {
    await using chat = await openChat();
    let choosers = 0;
    chat.page.on('filechooser', () => {
      choosers += 1;
    });
    await chat.say('Tell me');
    const call = await chat.model.call(0);
    const cancel = await chat.page.getByRole('button', { name: 'Cancel' }).boundingBox();
    if (!cancel) throw new Error('Cancel is not shown');
    const [x, y] = [cancel.x + cancel.width / 2, cancel.y + cancel.height / 2];
    await chat.page.mouse.click(x, y);
    await call.aborted;
    await chat.conversation.getByText('cancelled', { exact: true }).waitFor();
    await expectFocus(chat.page, 'Message');
    await chat.page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
    // The second click of a slow double click finds no button.
    expect(await chat.page.evaluate(`document.elementFromPoint(${x}, ${y}).closest('button')`)).toBeNull();
    await chat.page.mouse.click(x, y);
    expect(choosers).toBe(0);
    expect(chat.errors).toEqual([]);
  });

  it('Escape cancels the reply', async () => {
    await using chat = await openChat();
    await chat.say('Tell me');
    const call = await chat.model.call(0);
    await chat.page.getByRole('button', { name: 'Cancel' }).waitFor();
    await chat.page.keyboard.press('Escape');
    await call.aborted;
    await chat.conversation.getByText('cancelled', { exact: true }).waitFor();
    expect(chat.errors).toEqual([]);
  });

  it.each(['Approve', 'Deny'])('has the focus after %s', async (answer) => {
    await using chat = await openChat();
    await chat.say('Pay Ann');
    (await chat.model.call(0)).askFor({ name: 'pay', arguments: { to: 'Ann' } });
    await chat.conversation.getByRole('button', { name: answer }).focus();
    await chat.page.keyboard.press('Enter');
    await chat.conversation.getByRole('button', { name: answer }).waitFor({ state: 'detached' });
    await expectFocus(chat.page, 'Message');
    if (answer === 'Approve') (await chat.tools.call(0)).answer('paid');
    (await chat.model.call(1)).answer('Done with it.');
    expect(chat.errors).toEqual([]);
  });

  it('keeps its text over a reload', async () => {
    await using chat = await openChat();
    const box = chat.page.getByRole('textbox', { name: 'Message' });
    await box.fill('half a thought');
    await chat.page.reload();
    await expect.poll(() => box.inputValue()).toBe('half a thought');
  });

  it('takes a text that the browser has no room to keep', async () => {
    await using chat = await openChat();
    const box = chat.page.getByRole('textbox', { name: 'Message' });
    await box.fill('short');
    await chat.page.evaluate(`
      // Each time under another key, a short one: what a key has already would be written again.
      for (let size = 8_000_000, key = 0; size > 0; key += 1) {
        try { sessionStorage.setItem(key, ' '.repeat(size)); }
        catch { size = Math.floor(size / 2); }
      }
    `);
    await box.pressSequentially(' and longer');
    expect(await box.inputValue()).toBe('short and longer');
    await box.press('Enter');
    expect((await chat.model.call(0)).request.messages).toMatchObject([{ text: 'short and longer' }]);
    expect(await box.inputValue()).toBe('');
    expect(chat.errors).toEqual([]);
  });
});

it('a message that the service does not answer is shown as not confirmed, until it is recorded', async () => {
  await using chat = await openChat();
  const box = chat.page.getByRole('textbox', { name: 'Message' });
  await chat.live();
  // As where a network fails without a sign: nothing says that the connection is dead.
  chat.link.mute();
  await chat.say('Are you there?');
  const sent = chat.page.getByRole('article', { name: 'A message that the service has not confirmed yet' });
  await sent.getByText('Are you there?').waitFor();
  await box.fill('typed since');
  chat.link.unmute();
  (await chat.model.call(0)).answer('Yes.');
  await chat.conversation.getByText('Yes.').waitFor();
  expect(await sent.count()).toBe(0);
  expect(await chat.conversation.getByText('Are you there?').count()).toBe(1);
  expect(await box.inputValue()).toBe('typed since');
  expect(chat.errors).toEqual([]);
});

describe('a message that is typed while the service is away', () => {
  it('is shown as not sent yet, and is sent when the service is back', async () => {
    await using chat = await openChat();
    await chat.sever();
    await chat.say('Are you there?');
    const unsent = chat.page.getByRole('article', { name: 'A message that is not sent yet' });
    await unsent.getByText('Are you there?').waitFor();
    await unsent.getByText('not sent yet').waitFor();
    await chat.page.getByText(/Trying again/).waitFor();
    await chat.link.restore();
    (await chat.model.call(0)).answer('Yes.');
    await chat.conversation.getByText('Yes.').waitFor();
    expect(await unsent.count()).toBe(0);
    expect(await chat.conversation.getByText('Are you there?').count()).toBe(1);
  });

  it('returns to the message box after a reload', async () => {
    await using chat = await openChat();
    const box = chat.page.getByRole('textbox', { name: 'Message' });
    await chat.sever();
    await chat.say('Are you there?');
    await box.fill('typed since');
    await chat.page.getByText('not sent yet').waitFor();
    await chat.page.goto('about:blank');
    await chat.link.restore();
    await chat.page.goto(`${chat.link.url}/#/chat/demo`);
    await expect.poll(() => box.inputValue()).toBe('Are you there?\ntyped since');
    await box.press('Enter');
    const { request } = await chat.model.call(0);
    expect(request.messages).toMatchObject([{ role: 'user', text: 'Are you there?\ntyped since' }]);
    await chat.page.reload();
    await chat.conversation.getByText('Are you there?').waitFor();
    expect(await box.inputValue()).toBe('');
  });

  it('returns after a reload without its image, and says so', async () => {
    await using chat = await openChat();
    const box = chat.page.getByRole('textbox', { name: 'Message' });
    await chat.page.locator('input[type=file]').setInputFiles({
      name: 'a.gif',
      mimeType: 'image/gif',
      buffer: Buffer.from('GIF89a'),
    });
    await chat.page.getByAltText('To be sent').waitFor();
    await chat.sever();
    await chat.say('What is this?');
    await chat.page.getByText('not sent yet').waitFor();
    await chat.page.goto('about:blank');
    await chat.link.restore();
    await chat.page.goto(`${chat.link.url}/#/chat/demo`);
    await expect.poll(() => box.inputValue()).toBe('What is this?');
    await chat.page.getByText('Attach its image again').waitFor();
  });

  it('can be withdrawn: its text returns to the message box, and it is never sent', async () => {
    await using chat = await openChat();
    const box = chat.page.getByRole('textbox', { name: 'Message' });
    await chat.sever();
    await chat.say('Not this');
    await chat.say('But this');
    const first = chat.page.getByRole('article', { name: 'A message that is not sent yet' }).first();
    await first.getByRole('button', { name: 'Withdraw' }).click();
    await expect.poll(() => box.inputValue()).toBe('Not this');
    await expectFocus(chat.page, 'Message');
    await chat.link.restore();
    const { request } = await chat.model.call(0);
    expect(request.messages).toMatchObject([{ role: 'user', text: 'But this' }]);
    expect(await chat.page.getByRole('alert').textContent()).toBe('');
  });
});

async function expectFocus(page: Page, label: string): Promise<void> {
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(label);
}
