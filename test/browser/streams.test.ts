import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openChat } from '../support/console/chat-page.ts';
import { ConsolePage } from '../support/console/console-page.ts';

const DEFAULT_LIMITS = { limits: '' };

describe('the streams of the tabs of a browser', () => {
  it('are one for twelve tabs of one session, and every tab sees the reply', async () => {
    await using chat = await openChat(DEFAULT_LIMITS);
    const others = await Promise.all(Array.from({ length: 11 }, () => chat.newTab('#/chat/demo')));
    await chat.say('Tell me');
    (await chat.model.call(0)).answer('It is good to see you.');
    for (const page of [chat.page, ...others]) await page.getByText('It is good to see you.').waitFor();
    expect(await chat.openStreams()).toEqual({ sockets: 1, statecharts: 0 });
    expect(chat.errors).toEqual([]);
  });

  it('show a reply that streams to a tab that comes later', async () => {
    await using chat = await openChat();
    await chat.say('Tell me');
    const call = await chat.model.call(0);
    call.say('Once upon');
    await chat.conversation.getByText('Once upon').waitFor();
    const later = await chat.newTab('#/chat/demo');
    await later.getByText('Once upon').waitFor();
    call.say(' a time');
    await later.getByText('Once upon a time').waitFor();
    call.answer(', it ended.');
    await later.getByText('Once upon a time, it ended.', { exact: true }).waitFor();
  });

  it('are closed with the tab', async () => {
    await using chat = await openChat();
    await chat.conversation.waitFor();
    await expect.poll(chat.openStreams).toEqual({ sockets: 1, statecharts: 0 });
    const other = await chat.newTab('#/chat/other');
    await expect.poll(chat.openStreams).toEqual({ sockets: 2, statecharts: 0 });
    await other.close();
    await expect.poll(chat.openStreams).toEqual({ sockets: 1, statecharts: 0 });
    await chat.page.close();
    await expect.poll(chat.openStreams).toEqual({ sockets: 0, statecharts: 0 });
  });

  it('are one for the machines while no tab has a session that the service accepts', async () => {
    await using chat = await openChat();
    const other = await chat.newTab('#/chat/no%2Fsession');
    await chat.page.close();
    await expect.poll(chat.openStreams).toEqual({ sockets: 0, statecharts: 1 });
    await other.evaluate('location.hash = "#/chat/other"');
    await expect.poll(chat.openStreams).toEqual({ sockets: 1, statecharts: 0 });
  });

  it('go on with the machines when the session that brought them is left', async () => {
    await using chat = await openChat();
    await expect.poll(chat.openStreams).toEqual({ sockets: 1, statecharts: 0 });
    const other = await chat.newTab('#/statecharts/other');
    await expect.poll(chat.openStreams).toEqual({ sockets: 2, statecharts: 0 });
    await chat.page.close();
    await chat.service.post('/api/message', { message: 'Tell me', sessionId: 'third' });
    const call = await chat.model.call(0);
    const running = other.getByRole('group', { name: 'Machine' }).getByText('Turn of third');
    await running.waitFor();
    call.answer('Done.');
    await running.waitFor({ state: 'detached' });
    expect(await chat.openStreams()).toEqual({ sockets: 1, statecharts: 0 });
  });

  it('say when the service refuses one more, and take the place of a tab that nobody looks at', async () => {
    await using chat = await openChat(DEFAULT_LIMITS);
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
    const others = await Promise.all(names.map((name) => chat.newTab(`#/chat/${name}`)));
    const statuses = [chat.page, ...others].map((page) => page.getByText(/Trying again/));
    await Promise.any(statuses.map((status) => status.waitFor()));
    await hide(chat.page);
    for (const status of statuses.slice(1)) await status.waitFor({ state: 'detached' });
    await show(chat.page);
    await chat.page.getByText(/Trying again/).waitFor();
  });

  it('open without workers that tabs share', async () => {
    await using chat = await openChat();
    await chat.page.addInitScript('delete window.SharedWorker');
    await chat.page.reload();
    await chat.say('Tell me');
    (await chat.model.call(0)).answer('It is good to see you.');
    await chat.conversation.getByText('It is good to see you.').waitFor();
    expect(await chat.openStreams()).toEqual({ sockets: 1, statecharts: 0 });
    expect(chat.errors).toEqual([]);
  });
});

describe('a session whose events are refused', () => {
  it.each([
    ['the service', refusal('The service is stopping.'), 'The service is stopping.'],
    [
      'a proxy',
      { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' },
      /is not available \(502\)/,
    ],
    // Such as the page for repairs of a proxy.
    ['a page in place of the service', { status: 200, body: 'Back soon' }, /The service does not answer/],
  ])('by %s says so with when it tries again, and then opens', async (_, answer, message) => {
    await using opened = await ConsolePage.open('#/health/default');
    const { page } = opened;
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
    await page.route(/\/api\/sessions\/other\/events/, (route) => route.fulfill(answer));
    await page.evaluate('location.hash = "#/chat/other"');
    await page.getByText(message).waitFor();
    await page.getByText(/Trying again in \d+ s\./).waitFor();
    await page.unrouteAll();
    await page.getByText(message).waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await page.getByText('connecting').waitFor({ state: 'detached' });
    expect(await page.getByText('closed', { exact: true }).count()).toBe(0);
  });
});

function refusal(message: string) {
  const error = { code: 'SERVICE_UNAVAILABLE', message, details: {} };
  return { status: 503, json: { success: false, error } };
}

/** Headless Chromium shows all its tabs at once, so the test says which one is behind others. */
function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  return page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}
const hide = (page: Page) => setVisibility(page, 'hidden');
const show = (page: Page) => setVisibility(page, 'visible');
