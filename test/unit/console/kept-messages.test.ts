import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stubTabStorage } from '../../support/console/tab-storage.ts';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const MODULE: string = fileURLToPath(new URL('../../../src/console/chat/kept-messages.ts', import.meta.url));

const KEY = 'a session';
const ONE = { clientMessageId: 'c1', content: 'one', hasImage: false };
const TWO = { clientMessageId: 'c2', content: 'two', hasImage: true };
const LIVE = { unsent: [], unanswered: [], events: [] };
const recorded = (clientMessageId: string) => ({ event: 'message', data: { clientMessageId } });

let stored = new Map<string, string>();

beforeEach(() => {
  stored = stubTabStorage();
});
afterEach(() => void vi.unstubAllGlobals());

/** As after a load of the page. */
async function load() {
  const { KeptMessages } = await import(MODULE);
  return new KeptMessages();
}

describe('messages that the service has not recorded yet', () => {
  it('come back after a reload, in their order and once', async () => {
    const sender = await load();
    sender.keep(KEY, ONE);
    sender.keep(KEY, TWO);
    const reloaded = await load();
    expect(reloaded.takeLost('another session', LIVE)).toEqual([]);
    expect(reloaded.takeLost(KEY, LIVE)).toEqual([ONE, TWO]);
    expect(reloaded.takeLost(KEY, LIVE)).toEqual([]);
    expect(stored.size).toBe(0);
  });

  it('do not come back while the page that has sent them waits for the answer', async () => {
    const sender = await load();
    sender.keep(KEY, ONE);
    expect(sender.takeLost(KEY, LIVE)).toEqual([]);
    sender.forget(KEY, ONE.clientMessageId);
    expect(stored.size).toBe(0);
  });

  it('do not come back if the service has recorded them before the reload', async () => {
    const sender = await load();
    sender.keep(KEY, ONE);
    sender.keep(KEY, TWO);
    expect((await load()).takeLost(KEY, { ...LIVE, events: [recorded('c1')] })).toEqual([TWO]);
    expect(stored.size).toBe(0);
  });

  it('do not come back while a connection of another tab is to send them, nor when it has sent them', async () => {
    const sender = await load();
    sender.keep(KEY, ONE);
    const reloaded = await load();
    reloaded.note({ unsent: [ONE] });
    expect(reloaded.takeLost(KEY, { ...LIVE, unanswered: [ONE] })).toEqual([]);
    expect(reloaded.takeLost(KEY, LIVE)).toEqual([]);
    expect(stored.size).toBe(0);
  });

  it('come back if that tab was closed meanwhile', async () => {
    const sender = await load();
    sender.keep(KEY, ONE);
    expect((await load()).takeLost(KEY, { ...LIVE, unanswered: [ONE] })).toEqual([]);
    expect((await load()).takeLost(KEY, LIVE)).toEqual([ONE]);
  });

  it('do not come back while the connection that has sent them waits for the answer', async () => {
    const sender = await load();
    sender.keep(KEY, ONE);
    expect((await load()).takeLost(KEY, { ...LIVE, unanswered: [ONE] })).toEqual([]);
    expect((await load()).takeLost(KEY, { ...LIVE, events: [recorded('c1')] })).toEqual([]);
    expect(stored.size).toBe(0);
  });
});
