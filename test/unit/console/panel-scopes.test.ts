import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const MODULE: string = fileURLToPath(new URL('../../../src/console/app/panel-scopes.ts', import.meta.url));

beforeEach(() => void vi.stubGlobal('self', { location: { pathname: '/' } }));
afterEach(() => void vi.unstubAllGlobals());

it('a list of panels, and the number keys with it, has only what the account may see', async () => {
  const { shownPanels } = await import(MODULE);
  expect(shownPanels({ scopes: ['servers:read', 'metrics:read'] })).toEqual(['servers', 'health']);
  expect(shownPanels({ scopes: ['sessions:read', 'admin'] })).toEqual([
    'chat',
    'approvals',
    'timeline',
    'statecharts',
    'keys',
  ]);
});

it('a service that authenticates nobody shows all panels but the keys', async () => {
  const { shownPanels } = await import(MODULE);
  expect(shownPanels(null)).toHaveLength(6);
  expect(shownPanels(null)).not.toContain('keys');
});
