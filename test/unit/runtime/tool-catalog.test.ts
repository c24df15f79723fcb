import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { ApprovalConfig } from '../../../src/core/tool-call/approval-policy.ts';
import type { ToolOffer } from '../../../src/ports/turn-tools.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpSupervisor } from '../../../src/runtime/tools/mcp-supervisor.ts';
import { ToolCatalog } from '../../../src/runtime/tools/tool-catalog.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { serverBook } from '../../support/tools/server-book.ts';

const AUTO: ApprovalConfig = { rules: [], default: 'auto' };

/** What a model is offered that takes so many tools, of a server that has so many. */
async function offer(
  count: number,
  maxTools?: number,
  approval: ApprovalConfig = AUTO,
): Promise<{ offer: ToolOffer; lines: readonly unknown[] }> {
  const names = Array.from({ length: count }, (_, index) => `tool_${index + 1}`);
  const connector = new DirectedTools(Object.fromEntries(names.map((name) => [name, { repeatable: true }])));
  const log = recordingLog();
  await using supervisor = new McpSupervisor(
    { connector, log, machines: new LiveMachines(), retryDelayMs: () => 1_000 },
    serverBook(memoryEventStore()),
  );
  supervisor.start({ many: { type: 'stdio', command: 'none' } });
  const schemas = { issueWith: async () => undefined, ofClient: async () => ({}) };
  const catalog = new ToolCatalog(supervisor.list, schemas, {
    approval,
    clientTools: { expiresAfterMs: 3_600_000 },
    elicitation: { expiresAfterMs: 1_000 },
    roots: [],
    fileUrl: String,
    maxTools,
    log,
  });
  await catalog.ready();
  const given = catalog.forModel();
  expect(catalog.forModel()).toBe(given);
  return { offer: given, lines: log.lines.filter(({ level }) => level === 'warn') };
}

describe('the tools that a model is offered', () => {
  it('are all there are, where the model has no limit', async () => {
    const { offer: given, lines } = await offer(130);
    expect(given.tools).toHaveLength(130);
    expect(lines).toEqual([]);
  });

  it('are as many as the model takes; the log names those beyond, once', async () => {
    const { offer: given, lines } = await offer(130, 128);
    expect(given.tools.map(({ name }) => name)).toEqual(
      Array.from({ length: 128 }, (_, index) => `tool_${index + 1}`),
    );
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toMatch(
      /tool_129.*tool_130.*takes 128 tools at most, and 2 are not offered/,
    );
  });

  it('can be called beyond the limit: the model may know them from before', async () => {
    const { offer: given } = await offer(130, 128);
    const [call] = await given.resolve([{ callId: 'c', name: 'tool_130', arguments: '{}' }], []);
    expect(call).toMatchObject({ toolName: 'tool_130', serverId: 'many' });
    expect(call).not.toHaveProperty('problem');
  });

  it('are called with what the agent file says of each, and the hash of the arguments', async () => {
    const rules = (['ask', 'deny'] as const).map((policy, index) => {
      return { server: '*', tool: `tool_${index + 1}`, policy };
    });
    const { offer: given } = await offer(3, undefined, { rules, default: 'auto' });
    const names = ['tool_1', 'tool_2', 'tool_3', 'unknown'];
    const calls = await given.resolve(
      names.map((name) => ({ callId: name, name, arguments: '{"b":2,"a":1}' })),
      [],
    );
    expect(calls.map(({ policy }) => policy)).toEqual(['ask', 'deny', 'auto', 'auto']);
    // printf '%s' '{"a":1,"b":2}' | sha256sum
    const hash = '43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777';
    expect(calls.map(({ argumentsHash }) => argumentsHash)).toEqual(Array(4).fill(hash));
    expect(calls.map((call) => 'problem' in call)).toEqual([false, false, false, true]);
  });
});
