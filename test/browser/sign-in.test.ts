import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CreateKeyResponse } from '../../src/wire/api-keys.ts';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { RunningService } from '../support/service/running-service.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: 'you said $1' }] },
  limits: { requestsPerMinute: false },
});

/** The page of a service that asks for API keys. */
async function open(at: string, context: BrowserContextOptions = {}) {
  const service = await RunningService.start({ yaml: YAML, apiKeys: true });
  const opened = await ConsolePage.visit(service, `${service.url}/${at}`, context);
  const { page } = opened;
  const shot = async (name: string): Promise<void> => {
    const { SCREENSHOTS } = process.env;
    if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
  };
  return {
    page,
    service,
    shot,
    createKey: async (name: string, role: string) => {
      const answer = await service.post('/api/keys', { name, roles: [role] });
      return CreateKeyResponse.parse(await answer.json());
    },
    signIn: async (key: string): Promise<void> => {
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

describe('signing in', () => {
  it('refuses a wrong key, takes a right one for the chat, and forgets it with the sign-out', async () => {
    await using opened = await open('#/chat/demo');
    const { page, signIn, shot } = opened;
    const { key } = await opened.createKey('ada', 'user');
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    page.on('websocket', (socket) => urls.push(socket.url()));

    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await shot('sign-in');
    await signIn('as_wrong');
    await page
      .getByRole('alert')
      .getByText(/token|key/i)
      .waitFor();
    await shot('refused');
    await signIn(key);
    await page.getByText('Signed in as key:ada').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('hello');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByText('you said hello').waitFor();
    expect(await page.getByRole('link', { name: 'Health' }).count()).toBe(0);
    await expectAccessible(page);
    await shot('signed-in');
    expect(urls.filter((url) => url.includes(key))).toEqual([]);

    await page.goto(`${opened.service.url}/#/health/demo`);
    await page.getByText('It needs the scope metrics:read').waitFor();
    await shot('forbidden');
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate<number>('sessionStorage.length')).toBe(0);
    expect(await page.getByText('you said hello').count()).toBe(0);
  });

  it('asks for another key once the key was revoked', async () => {
    await using opened = await open('#/chat/demo');
    const { page, service, shot } = opened;
    const { key, keyId } = await opened.createKey('ada', 'user');
    await opened.signIn(key);
    await page.getByText('Signed in as key:ada').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('hello');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByText('you said hello').waitFor();
    await service.fetch(`/api/keys/${keyId}`, { method: 'DELETE' });
    await page
      .getByRole('alert')
      .getByText(/^You were signed out: .*revoked/)
      .waitFor();
    await shot('revoked');
  });

  it('keeps the reason of the sign-out when another request is refused later', async () => {
    await using opened = await open('#/chat/demo');
    const { page, service } = opened;
    const { key, keyId } = await opened.createKey('ada', 'user');
    await opened.signIn(key);
    await page.getByRole('textbox', { name: 'Message' }).fill('hello');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByText('you said hello').waitFor();
    const held = Promise.withResolvers<void>();
    await page.route('**/api/sessions/demo', async (route) => {
      if (route.request().method() === 'PATCH') await held.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.keyboard.type('Greetings');
    await page.keyboard.press('Enter');

    await service.fetch(`/api/keys/${keyId}`, { method: 'DELETE' });
    const reason = page.getByRole('alert').getByText(/^You were signed out: .*revoked/);
    await reason.waitFor();
    const late = page.waitForResponse((response) => response.request().method() === 'PATCH');
    held.resolve();
    expect((await late).status()).toBe(401);
    await (await late).finished();
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await reason.count()).toBe(1);
  });

  it('lets a reader read on a phone, too, and says why there is no message box', async () => {
    const phone = { viewport: { width: 390, height: 780 }, colorScheme: 'dark' } as const;
    await using opened = await open('#/chat/demo', phone);
    const { page, shot } = opened;
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await shot('phone');
    const { key } = await opened.createKey('eve', 'reader');
    await opened.signIn(key);
    await page.getByText('it needs the scope sessions:write').waitFor();
    await shot('reader');
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
  });
});
