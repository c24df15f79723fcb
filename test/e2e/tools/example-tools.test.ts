import { describe, expect } from 'vitest';
import { z } from 'zod';
import { RunningService } from '../../support/service/running-service.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const llm = { provider: 'scripted', model: 'offline' };
const everything = { type: 'stdio', command: 'agent-service', args: ['example-tools'] };

const Answer = z.object({ data: z.unknown() });

async function start(): Promise<RunningService> {
  // It is asked for the state of the server until that is there, however long this takes.
  const limits = { requestsPerMinute: false };
  const yaml = JSON.stringify({ llm, limits, mcpServers: { everything, tools: scriptableServer() } });
  const service = await RunningService.start({ yaml });
  await serverWith(service, 'everything', 'connected');
  return service;
}

describe('the tools that come with the service', () => {
  verifies('cli.example-tools', async () => {
    await using service = await start();
    const call = async (tool: string, args: object = {}): Promise<unknown> => {
      const path = `/api/mcp/servers/everything/tools/${tool}/execute`;
      const answer = await service.post(path, args);
      return Answer.parse(await answer.json()).data;
    };
    const text = (said: string) => ({ content: [{ type: 'text', text: said }] });
    expect(await call('echo', { message: 'hi' })).toEqual(text('Echo: hi'));
    expect(await call('get-sum', { a: 19, b: 23 })).toEqual(text('The sum of 19 and 23 is 42.'));
    expect(await call('get-tiny-image')).toMatchObject({
      content: [
        { type: 'text' },
        { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) },
      ],
    });
    expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      structuredContent: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
    });
    expect(await call('trigger-long-running-operation', { duration: 0.01, steps: 2 })).toEqual(
      text('Long running operation completed. Duration: 0.01 seconds, Steps: 2.'),
    );
    const environment = JSON.stringify(await call('get-env'));
    expect(environment).toContain('PATH');
    expect(environment).not.toContain('VITEST');
  });
});
