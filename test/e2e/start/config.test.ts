import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { Timestamp } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { listServers, serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const isTimestamp = expect.toSatisfy((value) => Timestamp.safeParse(value).success);
const fixture = scriptableServer();

async function exported(service: RunningService): Promise<string> {
  const response = await service.fetch('/api/config.yaml');
  expect(response.status).toBe(200);
  expect(response.headers.get('Content-Type')).toBe('application/yaml');
  return await response.text();
}

describe('GET /api/config.yaml', () => {
  const environment = { GREETING: 'Ahoy', NODE_COMMAND: fixture.command };
  const yaml = `# A comment that goes away
version: "1.0"
systemPrompt: |
  \${GREETING} from two
  lines, for $$5.
llm:
  provider: scripted
  model: \${MODEL_NAME:-offline}
  script:
    - when: "^price of (.+)$"
      reply: "$1 costs $$5"
mcpServers:
  tools:
    type: stdio
    command: $NODE_COMMAND
    args: ${JSON.stringify(fixture.args)}
limits: { requestsPerMinute: false }
`;

  verifies('config.yaml', async () => {
    await using service = await RunningService.start({ yaml, environment });
    const text = await exported(service);
    expect(text).not.toContain('A comment');
    expect(text).not.toContain('Ahoy');
    expect(parse(text)).toEqual(parse(yaml));

    await using again = await RunningService.start({ yaml: text, environment });
    expect(await exported(again)).toBe(text);
    const reply = await again.post('/api/message-sync', { message: 'price of tea' });
    expect(await reply.json()).toMatchObject({ response: 'tea costs $5' });
    expect((await serverWith(again, 'tools', 'connected')).type).toBe('stdio');
  });

  verifies('config.yaml', 'the version is there where the file leaves it out', async () => {
    await using service = await RunningService.start();
    expect(parse(await exported(service))).toEqual({
      version: '1.0',
      llm: { provider: 'scripted', model: 'offline' },
      mcpServers: {},
    });
  });

  verifies('config.yaml', 'the servers are those of now', async () => {
    await using service = await RunningService.start({ yaml, environment });
    // A dollar of a request is no reference to a variable.
    const config = { ...fixture, args: [...(fixture.args ?? []), '$HOME'], description: 'costs $5' };
    await service.post('/api/connect-server', { name: 'late', config });
    const name = 'tools';
    await service.fetch(`/api/mcp/servers/${name}`, { method: 'DELETE' });
    await service.fetch(`/api/mcp/servers/${name}`, { method: 'DELETE' });
    const text = await exported(service);
    expect(Object.keys(parse(text).mcpServers)).toEqual(['late']);

    await using again = await RunningService.start({ yaml: text, environment });
    expect(await serverWith(again, 'late', 'connected')).toMatchObject({ description: 'costs $5' });
  });

  verifies('config.redacted', async () => {
    const secrets = [
      'sk-live-0123456789abcdef',
      'pass-in-env-1',
      'header-value-2',
      'pw-in-url-3',
      'query-token-4',
      'flag-token-5',
      'inline-token-6',
      'fallback-secret-7',
      'runtime-env-8',
      'runtime-flag-9',
      'ghp_0123456789abcdefghij',
    ];
    const agent = {
      llm: {
        provider: 'scripted',
        model: 'offline',
        apiKey: secrets[0],
        baseURL: `https://me:${secrets[3]}@127.0.0.1:1/v1?access_token=${secrets[4]}`,
      },
      systemPrompt: `Use the key ${secrets[10]} when asked.`,
      mcpServers: {
        process: {
          ...fixture,
          args: [...(fixture.args ?? []), '--token', secrets[5], `--api-key=${secrets[6]}`],
          env: { PLAIN_NAME: secrets[1], DB_PASSWORD: `\${DB_PASSWORD:-${secrets[7]}}` },
        },
        remote: {
          type: 'http',
          baseUrl: `http://bot:${secrets[3]}@127.0.0.1:1/mcp?key=${secrets[4]}`,
          headers: { 'X-Team': secrets[2] },
        },
      },
      limits: { requestsPerMinute: false },
    };
    const log = recordingLog();
    await using service = await RunningService.start({ yaml: JSON.stringify(agent), log });
    const config = {
      ...fixture,
      args: [...(fixture.args ?? []), '--password', secrets[9]],
      env: { A: secrets[8] },
    };
    expect((await service.post('/api/connect-server', { name: 'late', config })).status).toBe(200);
    await serverWith(service, 'process', 'connected');
    await serverWith(service, 'remote', 'error');

    const text = await exported(service);
    const seen = `${text} ${JSON.stringify(await listServers(service))} ${JSON.stringify(log.lines)}`;
    expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
    const { llm, mcpServers } = parse(text);
    expect(llm.apiKey).toBe('***REDACTED***');
    expect(mcpServers.process.env).toEqual({ PLAIN_NAME: '***REDACTED***', DB_PASSWORD: '***REDACTED***' });
    expect(mcpServers.remote.headers).toEqual({ 'X-Team': '***REDACTED***' });
    expect(mcpServers.late.env).toEqual({ A: '***REDACTED***' });
    await using _again = await RunningService.start({ yaml: text });
  });
});

const Health = z.looseObject({ uptime: z.number() });

describe('health', () => {
  verifies('health.report', async () => {
    const mcpServers = { tools: fixture, missing: { type: 'stdio', command: 'no-such-command-anywhere' } };
    const yaml = JSON.stringify({ llm: { provider: 'scripted', model: 'offline' }, mcpServers });
    await using service = await RunningService.start({ yaml });
    await serverWith(service, 'tools', 'connected');
    const response = await service.fetch('/api/health');
    expect(response.status).toBe(200);
    const health = Health.parse(await response.json());
    expect(health).toEqual({
      status: 'healthy',
      version: readPackageVersion(),
      uptime: expect.any(Number),
      agent: { name: 'agent-service', status: 'ready', connectedServers: 1 },
      log: { bytes: 0, events: 0 },
      timestamp: isTimestamp,
    });
    const later = Health.parse(await (await service.fetch('/api/health')).json());
    expect(later.uptime).toBeGreaterThan(health.uptime);
    expect(health.uptime).toBeLessThanOrEqual(process.uptime());
  });

  for (const mode of ['web', 'mcp'] as const) {
    verifies('health.probe', `${mode} mode`, async () => {
      await using service = await RunningService.start({ mode });
      for (const path of ['/healthz', '/api/health']) {
        const response = await service.fetch(path);
        expect(response.status).toBe(200);
        expect(await response.json()).toMatchObject({ status: 'healthy' });
      }
      const head = await service.fetch('/healthz', { method: 'HEAD' });
      expect(head.status).toBe(200);
      expect(await head.text()).toBe('');
    });
  }

  verifies('health.probe', 'a probe is not counted', async () => {
    await using service = await RunningService.start();
    for (let probe = 0; probe < 150; probe += 1) {
      const response = await service.fetch('/healthz');
      expect(response.status).toBe(200);
      await response.text();
    }
  });
});
