import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../support/console/accessibility.ts';
import { ConsolePage } from '../support/console/console-page.ts';
import { projectRoot } from '../support/project/source-imports.ts';
import { RunningService, SCRIPTED } from '../support/service/running-service.ts';
import { rawExchange } from '../support/sockets/raw-http.ts';
import { scriptableServer } from '../support/tools/mcp/tool-servers.ts';
import { toolText } from '../support/tools/tool-server-client.ts';

describe('the page', () => {
  it('opens at / without an error, and without a request to another host', async () => {
    await using opened = await ConsolePage.open('');
    const { page, service, errors } = opened;
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.reload();
    await page.getByRole('navigation', { name: 'Panels' }).waitFor();
    for (const panel of ['Timeline', 'Statecharts', 'Tool servers', 'Health', 'Chat']) {
      await page.getByRole('link', { name: panel, exact: true }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    expect([...hosts]).toEqual([new URL(service.url).host]);
    expect(errors).toEqual([]);
  });

  it('opens at an address that is badly encoded, without an error of its own', async () => {
    await using opened = await ConsolePage.open('#/timeline/%E0%A4%A');
    await opened.page.getByRole('heading', { level: 1, name: 'Timeline' }).waitFor();
    expect(opened.errors.join()).not.toContain('URIError');
  });

  it('is headed and titled with the name of the agent', async () => {
    const yaml = `${SCRIPTED}name: Order helper\ndescription: Answers questions about orders.\n`;
    await using opened = await ConsolePage.open('', { yaml });
    const { page, errors } = opened;
    await page.getByRole('complementary').getByText('Order helper', { exact: true }).waitFor();
    expect(await page.title()).toBe('Order helper');
    await page.getByRole('complementary').getByText('Answers questions about orders.').waitFor();
    expect(errors).toEqual([]);
  });

  it('tells the warnings of the service, as long as they hold', async () => {
    const mcpServers = { tools: scriptableServer() };
    const approval = { rules: [{ server: 'tools', tool: 'wipe', policy: 'ask' }] };
    const yaml = JSON.stringify({ llm: { provider: 'scripted', model: 'offline' }, mcpServers, approval });
    await using opened = await ConsolePage.open('', { yaml });
    const { page, service, errors } = opened;
    const warning = page.getByText('approval.rules[0]');
    await page.getByText('1 warning', { exact: true }).click();
    await warning.waitFor();
    await expectAccessible(page);
    await toolText(service, 'tools', 'add_tool', { name: 'wipe' });
    await warning.waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });

  it('keeps the theme that was chosen', async () => {
    await using opened = await ConsolePage.open('', {}, { colorScheme: 'light' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Use the dark theme' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Use the light theme' }).waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  });
});

describe('the files of the page', () => {
  it('are compressed, and kept for ever by their hashed names; the page itself is not kept', async () => {
    await using service = await RunningService.start();
    const page = await service.fetch('/', { headers: { Accept: 'text/html' } });
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const script = /src="\.(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? 'none';
    for (const encoding of ['br', 'gzip']) {
      const response = await service.fetch(script, { headers: { 'Accept-Encoding': encoding } });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(await response.text()).toContain('react');
    }
    const plain = await service.fetch(script, { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toContain('react');
  });

  it('are not what a program gets at /', async () => {
    await using service = await RunningService.start();
    expect(await (await service.fetch('/')).text()).toContain('POST /api/message-sync');
  });

  it('do not lead out of their folder', async () => {
    await using service = await RunningService.start();
    const answers = await Promise.all(pathsToPackageJson().map((path) => getRaw(service.port, path)));
    expect(answers.length).toBeGreaterThan(50);
    const packageJson = readFileSync(join(projectRoot, 'package.json'), 'utf8');
    expect(answers.filter((answer) => answer.includes(packageJson))).toEqual([]);
    expect(answers.filter((answer) => !/^HTTP\/1\.1 (400|505) /.test(answer))).toEqual([]);
    // A path that stays inside is answered in the same way of asking.
    const [asset = ''] = /\/assets\/[^"]+\.js/.exec(await getRaw(service.port, '/')) ?? [];
    expect(await getRaw(service.port, asset)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

/** `fetch` would take the dots out of the path before it asks. */
function getRaw(port: number, path: string): Promise<string> {
  const headers = 'Host: localhost\r\nAccept: text/html\r\nConnection: close';
  return rawExchange(port, `GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`);
}

/** From dist/console to the package.json of the project, in the spellings that servers have fallen for. */
function pathsToPackageJson(): string[] {
  const file = join(projectRoot, 'package.json');
  const ups = ['..', '%2e%2e', '.%2E', '%252e%252e'];
  const slashes = ['/', '%2f', '%252F', '\\', '%5c'];
  const steps = ups.flatMap((up) => slashes.map((slash) => up + slash));
  const relative = steps.flatMap((step) => [
    `/${step.repeat(2)}package.json`,
    `/assets/${step.repeat(3)}package.json`,
  ]);
  const absolute = [`/${file}`, `/assets/${file}`, `/${encodeURIComponent(file)}`, `/file://${file}`];
  const cutShort = ['\0', '%00', '%2500'].map((nul) => `/assets/../../../package.json${nul}.js`);
  const withHost = ['http://localhost/../../package.json', '../../package.json'];
  return [
    ...relative,
    ...absolute,
    ...absolute.map((path) => path.replaceAll('/', '\\')),
    ...cutShort,
    ...withHost,
  ];
}
