import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progressLine, toolServerLine, welcome } from '../../../src/cli/run/welcome.ts';
import { whenSlow } from '../../../src/cli/run/when-slow.ts';

describe('the welcome', () => {
  const parts = {
    version: '1.2.3',
    agentFile: 'agents/default.yml',
    isBuiltIn: false,
    modelLabel: 'scripted offline',
    settings: { mode: 'web', host: '127.0.0.1', dataDir: './.agent-service' },
    port: 3001,
  } as const;

  it('says where the page, the interface and its description are, which agent runs and where its log is', () => {
    expect(welcome(parts).split('\n')).toEqual([
      'agent-service 1.2.3 is listening on http://127.0.0.1:3001',
      '  agent      agents/default.yml (scripted offline)',
      '  data       .agent-service',
      '  console    http://127.0.0.1:3001/',
      '  API        http://127.0.0.1:3001/api/health',
      '  docs       http://127.0.0.1:3001/docs',
      '  WebSocket  ws://127.0.0.1:3001/',
      '  MCP        http://127.0.0.1:3001/mcp',
      '',
    ]);
  });

  it('names the inspector if it is on', () => {
    const settings = { ...parts.settings, inspect: 'states' } as const;
    expect(welcome({ ...parts, settings })).toContain('\n  inspector  ws://127.0.0.1:3001/inspect\n');
  });

  it('names the agent of the package by no path, and says how to write one', () => {
    expect(welcome({ ...parts, agentFile: '/usr/lib/x/agents/default.yml', isBuiltIn: true })).toContain(
      '\n  agent      built in (scripted offline); npx agent-service init writes one of your own\n',
    );
  });

  it('names in mcp mode only what is served, and writes IPv6 and paths elsewhere as they are used', () => {
    const settings = { mode: 'mcp', host: '::1', dataDir: '/var/lib/agent' } as const;
    expect(welcome({ ...parts, settings }).split('\n')).toEqual([
      'agent-service 1.2.3 is listening on http://[::1]:3001',
      '  agent      agents/default.yml (scripted offline)',
      '  data       /var/lib/agent',
      '  MCP        http://[::1]:3001/mcp',
      '',
    ]);
  });

  it('tells of a tool server that it is up, or why it is not', () => {
    const server = { id: 's', name: 's', type: 'stdio' } as const;
    expect(toolServerLine({ ...server, status: 'connected' }, 1)).toBe('  tools      s is up: 1 tool\n');
    expect(toolServerLine({ ...server, status: 'error', error: 'gone' }, 0)).toBe(
      '  tools      s failed: gone; retrying\n',
    );
    expect(toolServerLine({ ...server, status: 'disconnected' }, 0)).toBe('');
    expect(progressLine('tools', 's is starting')).toBe('  tools      s is starting …\n');
  });
});

describe('work that takes long', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is told of once, after a second, and handed back as it is', async () => {
    const work = Promise.withResolvers<string>();
    const tell = vi.fn<() => void>();
    const done = whenSlow(work.promise, tell);
    vi.advanceTimersByTime(999);
    expect(tell).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60_000);
    expect(tell).toHaveBeenCalledOnce();
    work.resolve('done');
    expect(await done).toBe('done');
  });

  it('is not told of when it is quick, or fails quickly', async () => {
    const tell = vi.fn<() => void>();
    await whenSlow(Promise.resolve(), tell);
    await expect(whenSlow(Promise.reject(new Error('no')), tell)).rejects.toThrow('no');
    vi.advanceTimersByTime(60_000);
    expect(tell).not.toHaveBeenCalled();
  });
});
