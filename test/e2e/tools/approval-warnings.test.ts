import { describe, expect } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { type RecordingLog, recordingLog } from '../../support/telemetry/recording-log.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const Health = z.object({ warnings: z.array(z.string()).optional() });

async function warningsOf(service: RunningService): Promise<readonly string[]> {
  return Health.parse(await (await service.fetch('/api/health')).json()).warnings ?? [];
}

const warned = ({ lines }: RecordingLog) =>
  lines
    .filter(({ level, message }) => level === 'warn' && message.includes('approval.rules'))
    .map((line) => line.message);

describe('an approval rule that matches no tool', () => {
  const start = (log: RecordingLog, rules: object[]) =>
    RunningService.start({
      yaml: JSON.stringify({
        llm: { provider: 'scripted', model: 'offline' },
        mcpServers: { tools: scriptableServer() },
        approval: { rules },
      }),
      log,
    });

  verifies('approval.unmatched', async () => {
    const log = recordingLog();
    await using service = await start(log, [
      { server: 'tools', tool: 'wipe', policy: 'ask' },
      { server: 'tools', tool: 'echo', policy: 'ask' },
    ]);
    const [warning = ''] = await eventually(
      () => warningsOf(service),
      (warnings) => warnings.length > 0,
    );
    expect(warning).toMatch(
      /^approval\.rules\[0\] \(server: tools, tool: wipe, policy: ask\) matches none of the \d+ tools of tools: echo, /,
    );
    expect(warned(log)).toEqual([warning]);

    await toolText(service, 'tools', 'add_tool', { name: 'other' });
    const [changed = ''] = await eventually(
      () => warningsOf(service),
      ([now]) => now !== warning,
    );
    expect(warned(log)).toEqual([warning, changed]);

    await toolText(service, 'tools', 'add_tool', { name: 'wipe' });
    await eventually(
      () => warningsOf(service),
      (warnings) => warnings.length === 0,
    );
    expect(warned(log)).toEqual([warning, changed]);
  });

  verifies('approval.unmatched', 'a server that is connected at run time', async () => {
    const log = recordingLog();
    await using service = await start(log, [
      { server: 'late', tool: 'wipe', policy: 'ask', atRunTime: true },
    ]);
    await serverWith(service, 'tools', 'connected');
    expect(await warningsOf(service)).toEqual([]);
    const connected = await service.post('/api/connect-server', {
      name: 'late',
      config: scriptableServer(),
    });
    expect(connected.status).toBe(200);
    expect(await warningsOf(service)).toEqual([expect.stringContaining('tools of late')]);
    await service.fetch('/api/mcp/servers/late', { method: 'DELETE' });
    expect(await warningsOf(service)).toEqual([]);
    expect(warned(log)).toHaveLength(1);
  });
});
