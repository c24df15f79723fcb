import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CreateKeyResponse } from '../../src/wire/api-keys.ts';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { RunningService, SCRIPTED, type ServiceOptions } from '../support/service/running-service.ts';
import { DirectedTools } from '../support/tools/directed-tools.ts';

const YAML = `${SCRIPTED}limits: {requestsPerMinute: false}\n`;

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Signed in as').waitFor();
}

async function shot(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS } = process.env;
  if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
}

/** The session `plan` of ada, and the keys of ada and bob. */
async function start(options: Partial<ServiceOptions> = {}) {
  const service = await RunningService.start({ yaml: YAML, apiKeys: true, ...options });
  const keyOf = async (name: string): Promise<string> => {
    const answer = await service.post('/api/keys', { name, roles: ['user'] });
    return CreateKeyResponse.parse(await answer.json()).key;
  };
  const [ada, bob] = [await keyOf('ada'), await keyOf('bob')];
  const message = { sessionId: 'plan', message: 'the plan' };
  await service.post('/api/message-sync', message, { Authorization: `Bearer ${ada}` });
  return { service, ada, bob };
}

const SHARED = encodeURIComponent('default/key:ada/plan');

describe('sharing a session', () => {
  it('lists the grants, adds and revokes them', async () => {
    const { service, ada, bob } = await start();
    await using opened = await ConsolePage.visit(service, `${service.url}/#/chat/plan`);
    const { page } = opened;
    const bobReads = () =>
      service.fetch(`/api/sessions/${SHARED}`, { headers: { Authorization: `Bearer ${bob}` } });
    await signIn(page, ada);
    expect((await bobReads()).status).toBe(404);
    await page.getByRole('button', { name: 'Share…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share “the plan”' });
    await dialog.getByText('Only you and administrators can see it.').waitFor();
    await dialog.getByLabel('Principal').fill('key:bob');
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByText('key:bob may read').waitFor();
    await dialog.getByLabel('Share with').selectOption('everybody with a role');
    await dialog.getByLabel('Role', { exact: true }).fill('operator');
    await dialog.getByLabel('For').selectOption('reading and talking');
    await dialog.getByRole('button', { name: 'Share', exact: true }).click();
    await dialog.getByText('everybody with the role operator').waitFor();
    await expectAccessible(page);
    await shot(page, 'share');
    expect((await bobReads()).status).toBe(200);
    await dialog.getByRole('button', { name: 'Revoke what key:bob may read' }).click();
    await expect.poll(() => dialog.getByText('key:bob may read').count()).toBe(0);
    expect((await bobReads()).status).toBe(404);
  });

  it('shows whose it is, and no message box to who may only read', async () => {
    const { service, ada, bob } = await start();
    const share = (access: string) =>
      service.post(
        '/api/sessions/plan/grants',
        { principal: 'key:bob', access },
        { Authorization: `Bearer ${ada}` },
      );
    expect((await share('read')).status).toBe(200);
    const phone = { viewport: { width: 375, height: 740 }, colorScheme: 'dark' } as const;
    await using opened = await ConsolePage.visit(service, `${service.url}/#/chat/${SHARED}`, phone);
    const { page } = opened;
    await signIn(page, bob);
    await page.getByRole('link', { name: 'the plan of key:ada' }).waitFor();
    await page.getByText('key:ada does not share this session for talking').waitFor();
    await page.getByText('of key:ada, to read').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0);
    for (const name of ['Share…', 'Delete', 'Rename', 'Reset'])
      expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0]);
    await expectAccessible(page);
    await shot(page, 'shared-phone');
    expect((await share('talk')).status).toBe(200);
    await page.reload();
    await page.getByRole('textbox', { name: 'Message' }).fill('I agree');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await page.getByRole('log').getByText('I agree').first().waitFor();
    await page.getByText('of key:ada', { exact: true }).first().waitFor();
  });

  it('asks again what the reader may do if there is no answer, and does not call it shared for reading', async () => {
    const { service, ada, bob } = await start();
    const grant = { principal: 'key:bob', access: 'talk' };
    await service.post('/api/sessions/plan/grants', grant, { Authorization: `Bearer ${ada}` });
    await using opened = await ConsolePage.visit(service, `${service.url}/#/chat/${SHARED}`);
    const { page } = opened;
    const error = { code: 'SERVICE_UNAVAILABLE', message: 'Not now.', details: {} };
    let isAway = true;
    let refusals = 0;
    await page.route('**/api/sessions/*?at=1', async (route) => {
      if (!isAway) return route.fallback();
      await route.fulfill({ status: 503, json: { error } });
      refusals += 1;
    });
    await signIn(page, bob);
    await page.getByRole('log').waitFor();
    const before = refusals;
    await expect.poll(() => refusals).toBeGreaterThan(before + 1);
    expect(await page.getByText('does not share this session').count()).toBe(0);
    isAway = false;
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
  });

  it('lets those approve for whom it is shared, and tells the others that somebody else decides', async () => {
    const toolCalls = [{ tool: 'pay', arguments: { to: 'Ann' } }];
    const script = [{ when: '^pay$', reply: 'I pay.', toolCalls, afterTools: 'Done.' }];
    const yaml = JSON.stringify({
      llm: { provider: 'scripted', model: 'offline', script },
      limits: { requestsPerMinute: false },
      approval: { default: 'ask' },
      mcpServers: { bank: { type: 'stdio', command: 'none' } },
    });
    const { service, ada, bob } = await start({
      yaml,
      adapters: { connector: new DirectedTools({ pay: {} }) },
    });
    const byAda = (path: string, body: object) =>
      service.post(path, body, { Authorization: `Bearer ${ada}` });
    const share = (access: string) => byAda('/api/sessions/plan/grants', { principal: 'key:bob', access });
    await share('read');
    await byAda('/api/message', { sessionId: 'plan', message: 'pay' });
    await using opened = await ConsolePage.visit(service, `${service.url}/#/chat/${SHARED}`);
    const { page } = opened;
    await signIn(page, bob);
    await page.getByText('Somebody else decides whether the agent may run this tool.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await share('approve');
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
  });
});
