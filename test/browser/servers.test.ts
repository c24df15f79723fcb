import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { SCRIPTED } from '../support/service/running-service.ts';
import { DirectedTools } from '../support/tools/directed-tools.ts';
import { authorizingServer } from '../support/tools/mcp/authorizing-server.ts';
import { scriptableServer } from '../support/tools/mcp/tool-servers.ts';

const server = scriptableServer();
const YAML = `${SCRIPTED}
limits: {requestsPerMinute: false}
mcpServers:
  tools: ${JSON.stringify(server)}
`;

const open = (context: Parameters<typeof ConsolePage.open>[2] = {}) =>
  ConsolePage.open('#/servers/default', { yaml: YAML }, context);

describe('the tool servers', () => {
  it('connects a server, shows its state live, disconnects and forgets it', async () => {
    await using opened = await open();
    const { page, errors } = opened;
    await page.getByRole('button', { name: 'Connect a server' }).click();
    const form = page.getByRole('form', { name: 'Connect a server' });
    await form.getByLabel('Name', { exact: true }).fill('second');
    await form.getByRole('textbox', { name: 'Command' }).fill(server.command);
    await form.getByLabel('Arguments, one a line').fill((server.args ?? []).join('\n'));
    await form.getByRole('button', { name: 'Connect', exact: true }).click();
    const card = page.getByRole('article').filter({ hasText: 'second' });
    await card.getByText('connected', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Tools of second' }).getByText('echo').first().waitFor();
    await card.getByRole('button', { name: 'Disconnect' }).click();
    await card.getByText('disconnected', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Reconnect' }).click();
    await card.getByText('connected', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Disconnect' }).click();
    await card.getByRole('button', { name: 'Forget' }).click();
    await card.waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  it('asks for the authorization of a server that wants one, and shows when it is there', async () => {
    await using authorizing = await authorizingServer();
    const yaml = `${YAML}  locked: {type: http, baseUrl: "${authorizing.url}"}\n`;
    await using opened = await ConsolePage.open('#/servers/default', { yaml });
    const { page, errors } = opened;
    const card = page.getByRole('article').filter({ hasText: 'locked' });
    const link = card.getByRole('link', { name: 'Authorize' });
    await link.waitFor();
    await expectAccessible(page);
    const [visit] = await Promise.all([page.waitForEvent('popup'), link.click()]);
    await visit.getByRole('heading', { name: 'Authorized' }).waitFor();
    expect(await visit.evaluate('window.opener')).toBeNull();
    await card.getByText('connected', { exact: true }).waitFor();
    await link.waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  it('shows all but the form of a tool whose schema nobody can read', async () => {
    const inputSchema = { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } } as const;
    const connector = new DirectedTools({ broken: { inputSchema }, whole: {} });
    const yaml = `${SCRIPTED}mcpServers: {bank: {type: stdio, command: none}}\n`;
    await using opened = await ConsolePage.open('#/servers/default', { yaml, adapters: { connector } });
    const { page } = opened;
    await page.locator('summary', { hasText: 'broken' }).click();
    await page.getByText('There is no form for the arguments of this tool').waitFor();
    await page.locator('summary', { hasText: 'whole' }).click();
    await page.getByRole('button', { name: 'Run' }).waitFor();
    await page.getByRole('button', { name: 'Disconnect' }).click({ trial: true });
  });

  it('runs a tool whose schema is for another validator than that of the page', async () => {
    const year = { type: 'string', pattern: '(?P<year>[0-9]+)' } as const;
    const connector = new DirectedTools({ pay: { inputSchema: { type: 'object', properties: { year } } } });
    const yaml = `${SCRIPTED}mcpServers: {bank: {type: stdio, command: none}}\n`;
    await using opened = await ConsolePage.open('#/servers/default', { yaml, adapters: { connector } });
    const { page } = opened;
    await page.locator('summary', { hasText: 'pay' }).click();
    await page.getByLabel('year').fill('2026');
    const asked = page.waitForRequest(/\/tools\/pay\/execute$/);
    await page.getByRole('button', { name: 'Run' }).click();
    expect((await asked).postDataJSON()).toEqual({ year: '2026' });
  });

  it('opens the form where the reader is, with the focus in it', async () => {
    await using opened = await open({ viewport: { width: 900, height: 420 } });
    const { page } = opened;
    await page
      .getByRole('region', { name: 'Tools of tools' })
      .getByRole('group')
      .last()
      .scrollIntoViewIfNeeded();
    await page.getByRole('button', { name: 'Connect a server' }).click();
    await page.keyboard.type('third');
    const name = page.getByRole('form', { name: 'Connect a server' }).getByLabel('Name', { exact: true });
    expect(await name.inputValue()).toBe('third');
    const box = await name.boundingBox();
    expect(box && box.y > 0 && box.y < 420).toBe(true);
  });

  it('says why a server cannot be connected, and keeps what was typed', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.getByRole('button', { name: 'Connect a server' }).click();
    const form = page.getByRole('form', { name: 'Connect a server' });
    await form.getByLabel('Name', { exact: true }).fill('tools');
    await form.getByRole('textbox', { name: 'Command' }).fill('no-such-command');
    await form.getByLabel('Environment, NAME=value a line').fill('no value');
    await form.getByRole('button', { name: 'Connect', exact: true }).click();
    await form.getByRole('alert').getByText('“no value” needs a name').waitFor();
    await form.getByLabel('Environment, NAME=value a line').fill('');
    await form.getByRole('button', { name: 'Connect', exact: true }).click();
    await form.getByRole('alert').getByText('the name is in use').waitFor();
    expect(await form.getByRole('textbox', { name: 'Command' }).inputValue()).toBe('no-such-command');
  });

  it('corrects a server that could not be connected, under the same name', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.getByRole('button', { name: 'Connect a server' }).click();
    const form = page.getByRole('form', { name: 'Connect a server' });
    await form.getByLabel('Name', { exact: true }).fill('second');
    await form.getByRole('textbox', { name: 'Command' }).fill('no-such-command');
    await form.getByRole('button', { name: 'Connect', exact: true }).click();
    await form.getByRole('alert').getByText('no-such-command').waitFor();
    await form.getByRole('textbox', { name: 'Command' }).fill(server.command);
    await form.getByLabel('Arguments, one a line').fill((server.args ?? []).join('\n'));
    await form.getByRole('button', { name: 'Connect', exact: true }).click();
    const card = page.getByRole('article').filter({ hasText: 'second' });
    await card.getByText('connected', { exact: true }).waitFor();
    expect(await page.getByRole('article').filter({ hasText: 'second' }).count()).toBe(1);
  });

  it('shows that a server has ended by itself', async () => {
    await using opened = await open();
    const { page, service } = opened;
    const card = page.getByRole('article').filter({ hasText: 'tools' });
    await card.getByText('connected', { exact: true }).waitFor();
    await service.post('/api/mcp/servers/tools/tools/crash/execute', { code: 3 });
    await card.getByText('error', { exact: true }).waitFor();
    await card.getByText('exited with code 3').waitFor();
    await card.getByText('connected', { exact: true }).waitFor();
  });

  it('runs a tool from a form that its schema makes, and shows the result or the error', async () => {
    await using opened = await open();
    const { page, errors } = opened;
    const add = page
      .locator('details')
      .filter({ has: page.locator('summary', { hasText: 'add' }) })
      .first();
    await add.locator('summary').click();
    await add.getByRole('button', { name: 'Run' }).click();
    await add.getByText('is required').first().waitFor();
    await add.getByLabel(/^a/).fill('19');
    await add.getByLabel(/^b/).fill('23');
    await add.getByRole('button', { name: 'Run' }).click();
    await add.getByText('"sum": 42').waitFor();
    await add.getByText(/Answered in \d+ ms/).waitFor();
    const fail = page
      .locator('details')
      .filter({ has: page.locator('summary', { hasText: 'fail' }) })
      .first();
    await fail.locator('summary').click();
    await fail.getByLabel(/^reason/).fill('out of luck');
    await fail.getByRole('button', { name: 'Run' }).click();
    await fail.getByText('out of luck').last().waitFor();
    // The browser itself notes the refused request.
    expect(errors.filter((error) => !error.includes('500'))).toEqual([]);
  });

  it('shows the progress of a long run, and cancels it at the server', async () => {
    const everything = { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] };
    await using opened = await ConsolePage.open('#/servers/default', {
      yaml: `${SCRIPTED}mcpServers: ${JSON.stringify({ everything, tools: server })}\n`,
    });
    const { page, service, errors } = opened;
    const long = page.locator('details', { hasText: 'trigger-long-running-operation' });
    await long.locator('summary').click();
    await long.getByLabel(/^duration/).fill('600');
    await long.getByLabel(/^steps/).fill('6000');
    await long.getByRole('button', { name: 'Run' }).click();
    await long.getByText(/^\d+ of 6000$/).waitFor();
    await long.getByRole('progressbar', { name: 'Progress' }).waitFor();
    await long.getByRole('button', { name: 'Cancel' }).click();
    await long.getByText('Cancelled.').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Run');

    await page.getByRole('button', { name: /^tools/ }).click();
    const slow = page.locator('details', { hasText: 'Takes its time.' });
    await slow.locator('summary').click();
    await slow.getByLabel(/^ms/).fill('600000');
    await slow.getByRole('button', { name: 'Run' }).click();
    await slow.getByText('Running…').waitFor();
    await slow.getByRole('button', { name: 'Cancel' }).press('Enter');
    // The server counts the requests that were cancelled.
    const path = '/api/mcp/servers/tools/tools/cancelled/execute';
    expect(await (await service.post(path, { atLeast: 1 })).json()).toMatchObject({
      data: { content: [{ text: '1' }] },
    });
    expect(errors).toEqual([]);
  });

  it('shows what a server logs, writes and asks, as it goes on', async () => {
    await using opened = await open();
    const { page, service, errors } = opened;
    const execute = (tool: string, args: object) =>
      service.post(`/api/mcp/servers/tools/tools/${tool}/execute`, args);
    // Before that, the server is not connected, and runs nothing.
    await page.getByRole('region', { name: 'Tools of tools' }).getByText('echo').first().waitFor();
    await page.getByText('Log of tools').click();
    await page.getByText('Nothing yet.').waitFor();
    await execute('log', { text: 'the disk is old' });
    const log = page.getByRole('list', { name: 'Log of tools' });
    await log.getByText('script: {"said":"the disk is old"}').waitFor();
    await log.getByRole('listitem').filter({ hasText: 'warning' }).waitFor();
    await log.getByRole('listitem').filter({ hasText: 'stderr' }).getByText('the disk is old').waitFor();
    await execute('ask', { method: 'tools/list' });
    await log.getByText(/^tools\/list .*refused/).waitFor();
    // The log outlives the connection, and stays open.
    await execute('crash', {});
    await page
      .getByRole('article')
      .filter({ hasText: 'tools' })
      .getByText('error', { exact: true })
      .waitFor();
    await log.getByText(/^tools\/list .*refused/).waitFor();
    expect(errors).toEqual([]);
  });
});
