import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible, overflowPx } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { adminToken, RunningService, SCRIPTED } from '../support/service/running-service.ts';

const YAML = `${SCRIPTED}limits: {requestsPerMinute: false}\n`;

/** The list of keys, as the administrator or the owner of another key sees it. */
async function open(context: BrowserContextOptions = {}, key = adminToken) {
  const service = await RunningService.start({ yaml: YAML, apiKeys: true });
  const opened = await ConsolePage.visit(service, `${service.url}/#/keys/demo`, context);
  const { page } = opened;
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Signed in as').waitFor();
  return {
    page,
    service,
    shot: async (name: string): Promise<void> => {
      const { SCREENSHOTS } = process.env;
      if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

describe('the API keys', () => {
  it('are created, shown once, listed and revoked', async () => {
    await using opened = await open();
    const { page, service, shot } = opened;
    await page.getByText('There are no keys yet.').waitFor();
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('no good name');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').getByText(/name/).waitFor();
    await dialog.getByLabel('Name').fill('ci');
    await dialog.getByLabel('Roles').fill('reader, approver');
    await dialog.getByLabel('Expires').selectOption('in 30 days');
    await expectAccessible(page);
    await shot('keys-create');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('it is shown this once').waitFor();
    const key = (await dialog.locator('code').textContent()) ?? '';
    expect(key).toMatch(/^as_/);
    await dialog.getByRole('button', { name: 'Copy the key' }).waitFor();
    await expectAccessible(page);
    await shot('keys-new');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.getByText(key).count()).toBe(0);

    const row = page.getByRole('row', { name: /^ci/ });
    await row.getByText('reader, approver').waitFor();
    await row.getByText('active').waitFor();
    await shot('keys');
    const asCi = { headers: { Authorization: `Bearer ${key}` } };
    expect((await service.fetch('/api/sessions', asCi)).status).toBe(200);

    const revoke = row.getByRole('button', { name: /^Revoke ci/ });
    await revoke.click();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await expect.poll(() => revoke.evaluate((button) => button.matches(':focus'))).toBe(true);
    expect((await service.fetch('/api/sessions', asCi)).status).toBe(200);
    await revoke.click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
    expect((await service.fetch('/api/sessions', asCi)).status).toBe(401);
    await expect.poll(() => revoke.count()).toBe(0);
    await expectAccessible(page);
  });

  it('are not lost by Escape while they are created', async () => {
    await using opened = await open();
    const { page } = opened;
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await page.route('**/api/keys', async (route) => {
      if (route.request().method() === 'POST') {
        asked.resolve();
        await held.promise;
      }
      await route.continue();
    });
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('ci');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await asked.promise;
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    held.resolve();
    await dialog.getByText('it is shown this once').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('are not lost by a selection that ends beside the dialog, nor by a click there', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('ci');
    await dragOut(page, dialog.getByLabel('Name'));
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('it is shown this once').waitFor();
    await dragOut(page, dialog.locator('code'));
    expect(await dialog.locator('code').count()).toBe(1);
    await page.mouse.click(2, 2);
    expect(await dialog.locator('code').count()).toBe(1);
  });

  it('fit on a phone', async () => {
    await using opened = await open({ viewport: { width: 375, height: 740 }, colorScheme: 'dark' });
    const { page, service, shot } = opened;
    await service.post('/api/keys', { name: 'a-long-name-of-a-key', roles: ['reader', 'approver'] });
    await page.reload();
    await page.getByRole('row', { name: /a-long-name/ }).waitFor();
    await expectAccessible(page);
    expect(await overflowPx(page)).toBe(0);
    await shot('keys-phone');
  });

  it('are nothing for others', async () => {
    const service = await RunningService.start({ yaml: YAML, apiKeys: true });
    const answer = await service.post('/api/keys', { name: 'ada', roles: ['operator'] });
    const { key } = Object(await answer.json());
    await using opened = await ConsolePage.visit(service, `${service.url}/#/keys/demo`);
    const { page } = opened;
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('It needs the scope admin').waitFor();
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
  });

  it('are not there where nobody is authenticated', async () => {
    await using opened = await ConsolePage.open('#/keys/demo', { yaml: YAML });
    const { page } = opened;
    await page.getByText('This service authenticates nobody').waitFor();
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Share…' }).count()).toBe(0);
  });
});

/** Presses the mouse on the element, and releases it at the edge of the page. */
async function dragOut(page: Page, element: Locator): Promise<void> {
  const box = await element.boundingBox();
  if (!box) throw new Error('the element is not shown');
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(2, 2);
  await page.mouse.up();
}
