import { describe, expect, it } from 'vitest';
import { fencedTools } from '../../../../src/app/cluster/fenced-tools.ts';
import type { ToolServerConnection } from '../../../../src/ports/tool-server.ts';
import { DirectedTools } from '../../../support/tools/directed-tools.ts';

/** A tool server behind the lease of a node. */
async function start() {
  const listeners = new Set<() => void>();
  const lease = {
    isHeld: true,
    onRenewed: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const tools = new DirectedTools({ pay: {} });
  const connector = fencedTools(tools, lease);
  const connection: ToolServerConnection = await connector.connect(
    'tools',
    { type: 'stdio', command: 'none' },
    { onClosed: () => undefined, onToolsChanged: () => undefined, onNote: () => undefined },
    AbortSignal.timeout(60_000),
  );
  const renew = (isHeld: boolean): void => {
    lease.isHeld = isHeld;
    for (const listener of listeners) listener();
  };
  return { lease, tools, connection, renew, listeners };
}

/** Everything that was resolved has been taken. */
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a tool call of a node', () => {
  it('begins at once while the lease is held', async () => {
    const { tools, connection } = await start();
    const outcome = connection.callTool('pay', { sum: 1 });
    (await tools.call(0)).answer('paid');
    expect(await outcome).toMatchObject({ status: 'succeeded' });
  });

  it('waits while the lease may have ended, and begins once when it is held', async () => {
    const { lease, tools, connection, renew, listeners } = await start();
    lease.isHeld = false;
    const outcome = connection.callTool('pay', { sum: 1 });
    await quiet();
    renew(false);
    await quiet();
    expect(tools.calls).toEqual([]);
    renew(true);
    renew(true);
    const call = await tools.call(0);
    call.answer('paid');
    expect(await outcome).toMatchObject({ status: 'succeeded' });
    expect(tools.calls).toHaveLength(1);
    expect(call.arguments).toEqual({ sum: 1 });
    expect(listeners.size).toBe(0);
  });

  it('does not wait any more when nobody wants it', async () => {
    const { lease, tools, connection, listeners } = await start();
    lease.isHeld = false;
    const abort = new AbortController();
    void connection.callTool('pay', {}, { signal: abort.signal });
    await quiet();
    expect(listeners.size).toBe(1);
    abort.abort();
    // The connection is told of it, and says how it ends.
    expect((await tools.call(0)).signal?.aborted).toBe(true);
    expect(listeners.size).toBe(0);
  });

  it('waits for the lease when it is passed on, too, and other requests do not', async () => {
    const { lease, tools, connection, renew } = await start();
    lease.isHeld = false;
    expect(await connection.request({ method: 'tools/list', params: {} })).toMatchObject({ tools: [{}] });
    const result = connection.request({ method: 'tools/call', params: { name: 'pay' } });
    await quiet();
    expect(tools.calls).toEqual([]);
    renew(true);
    (await tools.call(0)).answer('paid');
    expect(await result).toMatchObject({ content: [{ text: 'paid' }] });
  });

  it('does not wait if nobody wanted it before', async () => {
    const { lease, tools, connection } = await start();
    lease.isHeld = false;
    void connection.callTool('pay', {}, { signal: AbortSignal.abort() });
    await quiet();
    expect(tools.calls.map(({ signal }) => signal?.aborted)).toEqual([true]);
  });

  it('may list the tools and close, whatever the lease is', async () => {
    const { lease, connection } = await start();
    lease.isHeld = false;
    expect(await connection.listTools()).toMatchObject([{ name: 'pay' }]);
    await connection.close();
  });
});
