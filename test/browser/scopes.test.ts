import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CreateKeyResponse } from '../../src/wire/api-keys.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { RunningService } from '../support/service/running-service.ts';
import { DirectedTools } from '../support/tools/directed-tools.ts';

const PAY = { tool: 'pay', arguments: { to: 'Ann' } };
const YAML = JSON.stringify({
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      { when: '^pay$', reply: 'I pay.', toolCalls: [PAY], afterTools: 'Done.' },
      { when: 'hello', reply: 'Yes.' },
    ],
  },
  limits: { requestsPerMinute: false },
  approval: { default: 'ask' },
  mcpServers: { bank: { type: 'stdio', command: 'none' } },
});

const SHARED = encodeURIComponent('default/key:ada/plan');

/** The page of somebody with this role, for whom the session `plan` of ada is shared. */
async function openAs(role: string) {
  const adapters = { connector: new DirectedTools({ pay: {} }) };
  const service = await RunningService.start({ yaml: YAML, apiKeys: true, adapters });
  const keyOf = async (name: string, roles: readonly string[]): Promise<string> => {
    const answer = await service.post('/api/keys', { name, roles });
    return CreateKeyResponse.parse(await answer.json()).key;
  };
  const byAda = { Authorization: `Bearer ${await keyOf('ada', ['user'])}` };
  await service.post('/api/message-sync', { sessionId: 'plan', message: 'hello' }, byAda);
  await service.post('/api/sessions/plan/grants', { principal: 'key:bob', access: 'approve' }, byAda);
  await service.post('/api/message', { sessionId: 'plan', message: 'pay' }, byAda);
  const opened = await ConsolePage.visit(service, `${service.url}/#/chat/${SHARED}`);
  const { page } = opened;
  await page.getByLabel('API key').fill(await keyOf('bob', [role]));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Signed in as').waitFor();
  await page.getByRole('log').getByText('Yes.').waitFor();
  return opened;
}

/** How many of each of these buttons there are. */
async function buttons(page: Page, ...names: readonly string[]): Promise<Record<string, number>> {
  const counts = names.map(async (name) => {
    return [name, await page.getByRole('button', { name, exact: true }).count()] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

async function openPanel(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: new RegExp(`^${name}`) }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
}

describe('what the key does not allow', () => {
  it('is not offered to a reader', async () => {
    await using opened = await openAs('reader');
    const { page } = opened;
    expect(await buttons(page, 'New', 'Fork', 'Rename', 'Delete', 'Edit', 'Fork from here')).toEqual({
      New: 0,
      Fork: 0,
      Rename: 0,
      Delete: 0,
      Edit: 0,
      'Fork from here': 0,
    });
    await page.getByRole('button', { name: 'Copy the reply' }).first().waitFor();

    await openPanel(page, 'Timeline');
    await page.getByText('The conversation as it was then').waitFor();
    expect(await buttons(page, 'Fork from here')).toEqual({ 'Fork from here': 0 });

    await openPanel(page, 'Approvals');
    await page.getByText('Somebody else decides whether the agent may run this tool.').waitFor();
    expect(await buttons(page, 'Approve', 'Deny')).toEqual({ Approve: 0, Deny: 0 });

    await openPanel(page, 'Tool servers');
    await page.locator('summary', { hasText: 'pay' }).click();
    await page.getByText('tools:execute').waitFor();
    expect(await buttons(page, 'Reconnect', 'Disconnect', 'Run')).toEqual({
      Reconnect: 0,
      Disconnect: 0,
      Run: 0,
    });
    expect(await page.getByText('Log of bank').count()).toBe(0);
  });

  it('is offered to whom the key allows it', async () => {
    await using opened = await openAs('operator');
    const { page } = opened;
    expect(await buttons(page, 'New', 'Fork', 'Edit', 'Fork from here')).toEqual({
      New: 1,
      Fork: 1,
      Edit: 2,
      'Fork from here': 1,
    });
    await openPanel(page, 'Approvals');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await openPanel(page, 'Tool servers');
    await page.locator('summary', { hasText: 'pay' }).click();
    await page.getByRole('button', { name: 'Run' }).waitFor();
    expect(await buttons(page, 'Reconnect', 'Disconnect')).toEqual({ Reconnect: 1, Disconnect: 1 });
    await page.getByText('Log of bank').waitFor();
  });
});
