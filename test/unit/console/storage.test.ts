import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { stubTabStorage } from '../../support/console/tab-storage.ts';

/** As texts, because the code of the page has the types of a browser, which tests lack. */
const pageModule = (path: string): string =>
  fileURLToPath(new URL(`../../../src/console/service/${path}`, import.meta.url));

afterEach(() => void vi.unstubAllGlobals());

const forbidden = (): never => {
  throw new Error('The operation is insecure.');
};

it('a text is kept until it is forgotten', async () => {
  stubTabStorage();
  const { ofTab } = await import(pageModule('storage.ts'));
  ofTab.set('a', 'text');
  expect(ofTab.get('a')).toBe('text');
  ofTab.set('a', null);
  expect(ofTab.get('a')).toBeNull();
});

it('a browser that forbids storage keeps nothing, without an error', async () => {
  vi.stubGlobal('localStorage', { getItem: forbidden, setItem: forbidden, removeItem: forbidden });
  const { ofBrowser } = await import(pageModule('storage.ts'));
  ofBrowser.set('a', 'text');
  ofBrowser.set('a', null);
  expect(ofBrowser.get('a')).toBeNull();
});

it('a tab whose browser forbids shared workers has its own streams', async () => {
  vi.stubGlobal('self', { location: { pathname: '/' } });
  vi.stubGlobal('SharedWorker', forbidden);
  const { openHub } = await import(pageModule('hub/hub-port.ts'));
  const ports: { close(): void }[] = [];
  openHub(null, (port: { close(): void }) => ports.push(port));
  expect(ports).toHaveLength(1);
  for (const port of ports) port.close();
});
