import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { stubTabStorage } from '../../support/console/tab-storage.ts';

const SERVICE = '../../../src/console/service';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const load = (name: string) => import(fileURLToPath(new URL(`${SERVICE}/${name}.ts`, import.meta.url)));

beforeEach(() => {
  stubTabStorage();
  const location = { pathname: '/', origin: 'http://host:1' };
  vi.stubGlobal('window', Object.assign(new EventTarget(), { location }));
  vi.stubGlobal('self', { location });
});
afterEach(() => vi.unstubAllGlobals());

/** What the page is told when a request with the key `request` is refused while it has the key `kept`. */
async function toldAfterRefusal(request: string | null, kept: string | null): Promise<readonly Error[]> {
  const { afterRefusal } = await load('api');
  const { ApiError } = await load('api-error');
  const { onSignedOut } = await load('signed-out');
  const { keepKey } = await load('kept-key');
  if (kept !== null) keepKey(kept);
  const told: Error[] = [];
  const stop = onSignedOut((error: Error) => told.push(error));
  const refusal = new ApiError({ code: 'UNAUTHORIZED', message: 'The key was revoked.', details: {} });
  expect(await afterRefusal(refusal, request)).toBeNull();
  stop();
  return told;
}

it.each([['as_1'], [null]])('a refusal signs out whoever has the key %s still', async (key) => {
  expect(await toldAfterRefusal(key, key)).toMatchObject([{ message: 'The key was revoked.' }]);
});

it.each([
  ['a new key', 'as_1', 'as_2'],
  ['a first key', null, 'as_1'],
  ['no key any more', 'as_1', null],
])('a late refusal says nothing about %s', async (_, request, kept) => {
  expect(await toldAfterRefusal(request, kept)).toEqual([]);
});
