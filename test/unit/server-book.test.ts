import { expect, it } from 'vitest';
import { memoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { McpServerConfig } from '../../src/contract/agent-config.ts';
import { ServerBook } from '../../src/runtime/server-book.ts';
import { WatchedStore } from '../support/watched-store.ts';

const config: McpServerConfig = { type: 'stdio', command: 'none' };
const full = new Error('disk full');

async function open() {
  const store = new WatchedStore(memoryEventStore());
  const book = new ServerBook(store);
  await book.load();
  /** What the next start connects. */
  const remembered = async (): Promise<string[]> => Object.keys(await new ServerBook(store).load());
  return { store, book, remembered };
}

it('forgets a server at the second try when the log refused the first', async () => {
  const { store, book, remembered } = await open();
  await book.add('files', config);
  store.refuseNext('mcp-server.removed', full);
  await expect(book.remove('files')).rejects.toBe(full);
  expect(await remembered()).toEqual(['files']);
  await book.remove('files');
  expect(await remembered()).toEqual([]);
});

it('forgets a server that is removed while it is on its way to the log', async () => {
  const { book, remembered } = await open();
  await Promise.all([book.add('files', config), book.remove('files')]);
  expect(await remembered()).toEqual([]);
});

it('remembers a server that is added again while it is being removed', async () => {
  const { book, remembered } = await open();
  await book.add('files', config);
  await Promise.all([book.remove('files'), book.add('files', config)]);
  expect(await remembered()).toEqual(['files']);
  await book.remove('files');
  expect(await remembered()).toEqual([]);
});
