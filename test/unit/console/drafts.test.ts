import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stubTabStorage } from '../../support/console/tab-storage.ts';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const MODULE: string = fileURLToPath(new URL('../../../src/console/chat/drafts.ts', import.meta.url));

const KEY = 'a draft';
const PHOTO = { mimeType: 'image/png', base64: 'AA==' };
const OTHER = { mimeType: 'image/png', base64: 'BB==' };

let stored = new Map<string, string>();

beforeEach(() => {
  stored = stubTabStorage();
  vi.stubGlobal('self', { location: { pathname: '/' } });
});
afterEach(() => void vi.unstubAllGlobals());

async function openDrafts() {
  const { Drafts } = await import(MODULE);
  return new Drafts();
}

describe('a draft', () => {
  it('has its text after a reload, and leaves nothing behind when it is empty', async () => {
    const drafts = await openDrafts();
    drafts.setText(KEY, 'half a thought');
    drafts.setImage(KEY, PHOTO);
    expect(drafts.get(KEY)).toMatchObject({ text: 'half a thought', image: PHOTO });
    expect((await openDrafts()).get(KEY)).toMatchObject({ text: 'half a thought', image: null });
    drafts.setText(KEY, '');
    expect(stored.size).toBe(0);
  });

  it('takes back several messages while nobody shows it, in their order and before what was typed', async () => {
    const drafts = await openDrafts();
    drafts.setText(KEY, 'typed since');
    drafts.putBack(KEY, 'one', null);
    drafts.putBack(KEY, 'two', null);
    expect(drafts.get(KEY).text).toBe('one\ntwo\ntyped since');
    expect((await openDrafts()).get(KEY).text).toBe('one\ntwo\ntyped since');
    drafts.setText(KEY, 'all new');
    drafts.putBack(KEY, 'three', null);
    expect(drafts.get(KEY).text).toBe('three\nall new');
  });

  it('takes back an image, unless there is another one meanwhile', async () => {
    const drafts = await openDrafts();
    drafts.putBack(KEY, '', PHOTO);
    expect(drafts.get(KEY)).toMatchObject({ text: '', image: PHOTO });
    drafts.setImage(KEY, OTHER);
    drafts.putBack(KEY, 'look', PHOTO);
    expect(drafts.get(KEY)).toMatchObject({ text: 'look', image: OTHER });
  });

  it('tells whoever shows it of each change, and is the same object until then', async () => {
    const drafts = await openDrafts();
    const listener = vi.fn();
    const stop = drafts.subscribe(listener);
    expect(drafts.get(KEY)).toBe(drafts.get(KEY));
    drafts.putBack(KEY, 'refused', null);
    expect(listener).toHaveBeenCalledTimes(1);
    stop();
    drafts.setText(KEY, '');
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('is sent once when its session opens, if it is left for that and not changed before', async () => {
    const drafts = await openDrafts();
    expect(drafts.takeDue(KEY)).toBe(false);
    drafts.sendWhenOpen(KEY, 'edited', PHOTO);
    expect(drafts.get(KEY)).toMatchObject({ text: 'edited', image: PHOTO });
    expect([drafts.takeDue(KEY), drafts.takeDue(KEY)]).toEqual([true, false]);
    drafts.sendWhenOpen(KEY, 'edited', PHOTO);
    drafts.setText(KEY, 'edited again');
    expect(drafts.takeDue(KEY)).toBe(false);
  });

  it('is of one person in one tenant', async () => {
    const { draftKey } = await import(MODULE);
    const keys = [null, { tenant: 'a', principal: 'key:x' }, { tenant: 'b', principal: 'key:x' }];
    expect(new Set(keys.map((account) => draftKey(account, 's'))).size).toBe(3);
  });
});
