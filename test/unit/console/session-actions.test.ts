import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** As texts, because the code of the page has the types of a browser, which tests lack. */
const pageModule = (path: string): string =>
  fileURLToPath(new URL(`../../../src/console/${path}`, import.meta.url));

const PHOTO = { mimeType: 'image/png', base64: 'AA==' };
const answers: Readonly<Record<string, object>> = {
  '/api/sessions/s/images/3': { image: PHOTO },
  '/api/sessions/s/fork': { sessionId: 'fork-1' },
  '/api/message': {},
};
const location = { pathname: '/', hash: '' };
const asked: string[] = [];

beforeEach(() => {
  asked.length = 0;
  location.hash = '';
  vi.stubGlobal('self', { location });
  vi.stubGlobal('window', { location });
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    return Response.json(answers[path]);
  });
});
afterEach(() => void vi.unstubAllGlobals());

const edited = { sessionId: 's', firstSeq: 3, text: 'edited', account: null };

it('an edited message with an image is left for the message box of its fork, which tells of a refusal', async () => {
  const { forkWith } = await import(pageModule('app/session-actions.ts'));
  const { draftKey, drafts } = await import(pageModule('chat/drafts.ts'));
  await forkWith({ ...edited, hasImage: true });
  expect(asked).toEqual(['/api/sessions/s/images/3', '/api/sessions/s/fork']);
  expect(location.hash).toBe('#/chat/fork-1');
  const key = draftKey(null, 'fork-1');
  expect(drafts.get(key)).toMatchObject({ text: 'edited', image: PHOTO });
  expect(drafts.takeDue(key)).toBe(true);
});

it('an edited message without an image is sent before its fork opens', async () => {
  const { forkWith } = await import(pageModule('app/session-actions.ts'));
  await forkWith({ ...edited, hasImage: false });
  expect(asked).toEqual(['/api/sessions/s/fork', '/api/message']);
  expect(location.hash).toBe('#/chat/fork-1');
});
