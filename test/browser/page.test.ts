import { describe, expect, it } from 'vitest';
import { ConsolePage } from '../support/console-page.ts';
import { RunningService } from '../support/running-service.ts';

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
    expect((await service.fetch('/assets/%2e%2e/%2e%2e/package.json')).status).toBe(400);
  });
});
