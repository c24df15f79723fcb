import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/core/errors.ts';
import { openChat } from '../support/console/chat-page.ts';

describe('the chat', () => {
  it('sends a message and shows the reply as it streams', async () => {
    await using chat = await openChat();
    await chat.say('Tell me');
    const call = await chat.model.call(0);
    call.say('It is **go');
    await chat.conversation.getByText('It is **go').waitFor();
    call.answer('od** to see you.');
    await chat.conversation.locator('strong', { hasText: 'good' }).waitFor();
    await chat.conversation.getByRole('button', { name: 'Fork from here' }).waitFor();
    expect(await chat.conversation.textContent()).toContain('It is good to see you.');
    expect(chat.errors).toEqual([]);
  });

  it('makes no link of an address that would run a script, and loads nothing that a reply names', async () => {
    await using chat = await openChat();
    await chat.say('Tell me');
    (await chat.model.call(0)).answer(
      '[run](javascript:alert(1)) [read](https://example.com/) ![seen](https://example.com/x.png) <img src=x>',
    );
    await chat.conversation.getByRole('button', { name: 'Fork from here' }).waitFor();
    const text = await chat.conversation.textContent();
    expect(text).toContain('run read [image: seen] <img src=x>');
    const links = await chat.conversation.getByRole('link').evaluateAll((all) => all.map(String));
    expect(links).toEqual(['https://example.com/']);
    expect(await chat.conversation.locator('img').count()).toBe(0);
    expect(chat.errors).toEqual([]);
  });

  it('goes on with a reply after a reload in the middle of it, each word once', async () => {
    await using chat = await openChat();
    await chat.say('Tell me');
    const call = await chat.model.call(0);
    call.say('Once upon');
    await chat.conversation.getByText('Once upon').waitFor();
    await chat.page.reload();
    await chat.conversation.getByText('Once upon').waitFor();
    call.say(' a time');
    await chat.conversation.getByText('Once upon a time').waitFor();
    call.answer(', it ended.');
    await chat.conversation.getByText('Once upon a time, it ended.', { exact: true }).waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('shows a tool call folded, with its arguments and result when it is opened', async () => {
    await using chat = await openChat();
    await chat.say('Look around');
    (await chat.model.call(0)).askFor({ name: 'look', arguments: { at: 'the garden' } });
    const details = chat.conversation.locator('details', { hasText: 'look' });
    await details.getByText('running').waitFor();
    await details.getByText('at: the garden').waitFor();
    expect(await details.getByText('"the garden"').isVisible()).toBe(false);
    (await chat.tools.call(0)).answer('roses');
    await details.getByText('done').waitFor();
    await details.locator('summary').click();
    await details.getByText('"the garden"').waitFor();
    await details.getByText('roses', { exact: true }).waitFor();
    (await chat.model.call(1)).answer('I saw roses.');
    await chat.conversation.getByText('I saw roses.').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it.each(['Approve', 'Deny'])('asks before a tool that needs approval: %s', async (answer) => {
    await using chat = await openChat();
    await chat.say('Pay Ann');
    (await chat.model.call(0)).askFor({ name: 'pay', arguments: { to: 'Ann' } });
    await chat.conversation.getByRole('button', { name: answer }).click();
    if (answer === 'Approve') (await chat.tools.call(0)).answer('paid');
    const next = await chat.model.call(1);
    expect(next.request.messages.at(-1)).toMatchObject({
      role: 'tool',
      text: answer === 'Approve' ? 'paid' : expect.stringContaining('denied'),
    });
    next.answer('Done with it.');
    await chat.conversation.getByText('Done with it.').waitFor();
    expect(chat.tools.calls).toHaveLength(answer === 'Approve' ? 1 : 0);
    expect(await chat.conversation.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(chat.errors).toEqual([]);
  });

  it('takes one decision while there is no connection, and sends it with the next one', async () => {
    await using chat = await openChat();
    await chat.say('Pay Ann');
    (await chat.model.call(0)).askFor({ name: 'pay', arguments: { to: 'Ann' } });
    const approve = chat.conversation.getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    await chat.sever();
    await approve.click();
    await expect.poll(() => approve.isDisabled()).toBe(true);
    expect(await chat.conversation.getByRole('button', { name: 'Deny' }).isDisabled()).toBe(true);
    await chat.link.restore();
    (await chat.tools.call(0)).answer('paid');
    (await chat.model.call(1)).answer('Done with it.');
    await chat.conversation.getByText('Done with it.').waitFor();
    expect(await chat.page.getByRole('alert').textContent()).toBe('');
  });

  it('denies with a reason by the Enter key, and the reason is shown', async () => {
    await using chat = await openChat();
    await chat.say('Pay Ann');
    (await chat.model.call(0)).askFor({ name: 'pay', arguments: { to: 'Ann' } });
    await chat.conversation.getByLabel('Reason of a denial').fill('not before Monday');
    await chat.page.keyboard.press('Enter');
    (await chat.model.call(1)).answer('Then on Monday.');
    await chat.conversation.getByText('Then on Monday.').waitFor();
    await chat.conversation.locator('summary').first().click();
    await chat.conversation.getByText('not before Monday').first().waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('cancels a reply, and still shows what was said after a reload', async () => {
    await using chat = await openChat();
    await chat.say('Tell me');
    const call = await chat.model.call(0);
    call.say('This will be cut');
    await chat.conversation.getByText('This will be cut').waitFor();
    await chat.page.getByRole('button', { name: 'Cancel' }).click();
    await call.aborted;
    await chat.conversation.getByText('cancelled', { exact: true }).waitFor();
    await chat.page.reload();
    await chat.conversation.getByText('cancelled', { exact: true }).waitFor();
    expect(await chat.conversation.textContent()).toContain('This will be cut');
    expect(chat.errors).toEqual([]);
  });

  it('sends an image that was pasted', async () => {
    await using chat = await openChat();
    await chat.page.getByRole('textbox', { name: 'Message' }).focus();
    await chat.page.evaluate(pasteImage);
    await chat.page.getByAltText('To be sent').waitFor();
    await chat.say('What is this?');
    const { request } = await chat.model.call(0);
    expect(request.messages).toEqual([
      { role: 'user', text: 'What is this?', images: [{ mimeType: 'image/png', base64: PIXEL }] },
    ]);
    await chat.conversation.getByText('image/png, 1 KB').waitFor();
    await chat.page.reload();
    await chat.conversation.getByRole('button', { name: 'Image of the message: enlarge' }).click();
    await chat.page.getByRole('dialog').getByAltText('Image of the message').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('sends an image with its message, also if Enter is pressed before it was read', async () => {
    await using chat = await openChat();
    const { page } = chat;
    await page.getByRole('textbox', { name: 'Message' }).fill('What is this?');
    await page.evaluate(`(async () => {
      ${pasteImage}
      // As a key that is pressed later, but before a file can be read.
      await null;
      const enter = { key: 'Enter', bubbles: true, cancelable: true };
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', enter));
    })()`);
    await page.getByAltText('To be sent').waitFor();
    await page.keyboard.press('Enter');
    const { request } = await chat.model.call(0);
    expect(request.messages).toMatchObject([{ text: 'What is this?', images: [{ base64: PIXEL }] }]);
    expect(chat.errors).toEqual([]);
  });

  it('does not attach an image that is larger than the service takes', async () => {
    await using chat = await openChat({
      limits: 'limits: {requestsPerMinute: false, messagesPerMinute: false, requestBytes: 1000}\n',
    });
    const attach = (name: string, bytes: number) =>
      chat.page.locator('input[type=file]').setInputFiles({
        name,
        mimeType: 'image/gif',
        buffer: Buffer.alloc(bytes, 'GIF89a'),
      });
    // The limit comes with the agent.
    await chat.page.getByRole('button', { name: /tools$/ }).waitFor();
    await attach('large.gif', 1_001);
    await chat.page.getByText('large.gif has 1.0 kB, and this service takes images of at most').waitFor();
    expect(await chat.page.getByAltText('To be sent').count()).toBe(0);
    await attach('small.gif', 1_000);
    await chat.page.getByAltText('To be sent').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('leaves dropped text to the message box, and takes dropped images', async () => {
    await using chat = await openChat();
    await chat.page.getByRole('textbox', { name: 'Message' }).focus();
    const isTaken = (data: string) =>
      chat.page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(${data});
        const isTaken = (type) => {
          const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
          return !document.activeElement.dispatchEvent(event);
        };
        return [isTaken('dragover'), isTaken('drop')];
      })()`);
    expect(await isTaken("'a text', 'text/plain'")).toEqual([false, false]);
    expect(await isTaken("new File(['GIF89a'], 'a.gif', { type: 'image/gif' })")).toEqual([true, true]);
    await chat.page.getByAltText('To be sent').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('keeps a pasted image for its session while another panel or session is open', async () => {
    await using chat = await openChat();
    const { page } = chat;
    const image = page.getByAltText('To be sent');
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.evaluate(pasteImage);
    await image.waitFor();
    await page.getByRole('link', { name: 'Health' }).click();
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
    await page.getByRole('button', { name: 'New' }).click();
    await page.getByText('Say something. Every message').waitFor();
    expect(await image.count()).toBe(0);
    await page.goto(`${chat.link.url}/#/chat/demo`);
    await image.waitFor();
    await page.getByRole('button', { name: 'Remove image' }).click();
    await image.waitFor({ state: 'detached' });
    expect(chat.errors).toEqual([]);
  });

  it('makes, forks, switches and deletes sessions', async () => {
    await using chat = await openChat();
    const { page, conversation } = chat;
    await chat.say('first');
    (await chat.model.call(0)).answer('the first answer');
    await conversation.getByRole('button', { name: 'Fork from here' }).click();
    await page.getByRole('heading', { level: 1, name: /^fork-/ }).waitFor();
    await conversation.getByText('the first answer').waitFor();
    await page.getByRole('link', { name: 'demo' }).click();
    await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'demo' }).waitFor({ state: 'detached' });
    expect((await chat.service.fetch('/api/sessions/demo')).status).toBe(404);
    await page.getByRole('button', { name: 'New' }).click();
    await page.getByText('Say something. Every message').waitFor();
    expect(chat.errors).toEqual([]);
  });

  it('tells what the service refuses', async () => {
    await using chat = await openChat();
    await chat.say('first');
    (await chat.model.call(0)).fail(
      new ServiceError('AGENT_ERROR', 'No answer.', { reason: 'the provider is down' }),
    );
    await chat.conversation.getByText('the provider is down').waitFor();
    await chat.conversation.getByText('failed', { exact: true }).waitFor();
    expect(chat.errors).toEqual([]);
  });
});

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Runs in the page: what the browser does when a picture is pasted. */
const pasteImage = `
  const bytes = Uint8Array.from(atob('${PIXEL}'), (char) => char.charCodeAt(0));
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
  document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
`;
