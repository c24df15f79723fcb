import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { PushReceiver } from '../../support/a2a/push-receiver.ts';
import { eventually } from '../../support/project/eventually.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { freePort, RunningService } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { execute, serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

async function healthcheck(environment: Record<string, string>): Promise<Ending> {
  await using probe = new ServiceProcess([], { script: 'ops/healthcheck.js', environment });
  return await probe.ended;
}

/** A server in place of the service. */
async function serverThat(handle: RequestListener): Promise<{ port: string } & AsyncDisposable> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: String(address.port),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe.concurrent('the health check of the container', () => {
  verifies('ops.healthcheck', async () => {
    await using service = await RunningService.start();
    const port = String(service.port);
    const well = { code: 0, stdout: '', stderr: '' };
    expect(await healthcheck({ AGENT_SERVICE_WEB_PORT: port, PORT: '1' })).toMatchObject(well);
    expect(await healthcheck({ AGENT_SERVICE_WEB_PORT: '', PORT: port })).toMatchObject(well);
    await service.close();
    const gone = { code: 1, stdout: '', stderr: 'healthz: ECONNREFUSED\n' };
    expect(await healthcheck({ AGENT_SERVICE_WEB_PORT: port })).toMatchObject(gone);
    expect(await healthcheck({ PORT: String(await freePort()) })).toMatchObject(gone);
  });

  verifies('ops.healthcheck', 'a service that answers 503, and one that does not answer', async () => {
    const asked: string[] = [];
    await using ill = await serverThat((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(503).end();
    });
    expect(await healthcheck({ PORT: ill.port })).toMatchObject({ code: 1, stdout: '' });
    expect(asked).toEqual(['/healthz']);
    // It has to give up by itself before the 5 seconds that the Dockerfile gives it.
    await using hanging = await serverThat(() => undefined);
    expect(await healthcheck({ PORT: hanging.port })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^healthz: .*timeout/),
    });
  });
});

const Dashboard = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).optional() })),
  templating: z.object({ list: z.array(z.object({ query: z.string() })) }),
});

/** A metric with the labels that a query selects or groups by. */
interface Asked {
  readonly query: string;
  readonly name: string;
  readonly labels: readonly string[];
}

function dashboardAsks(): Asked[] {
  const file = readFileSync(join(projectRoot, 'ops', 'grafana-dashboard.json'), 'utf8');
  const { panels, templating } = Dashboard.parse(JSON.parse(file));
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const variables = templating.list.map(({ query }) => query).filter((query) => query.includes('('));
  return [...expressions, ...variables].flatMap((query) => {
    const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
      labels.split(/,\s*/),
    );
    return [...query.matchAll(/\b([a-z]+_\w+)\b(?!\()(?:\{([^}]*)\})?/g)].map(
      ([, name = '', selected = '']) => ({
        query,
        name,
        labels: [...grouped, ...selected.split(/,\s*/)].filter(
          (label) => label !== '' && !label.startsWith('instance'),
        ),
      }),
    );
  });
}

/** Whether a line of /metrics is of the metric, has the labels, and has the value where one is asked for. */
function isOf(line: string, { name, labels }: Asked): boolean {
  const [, shown, values = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
  return (
    shown === name &&
    labels.every((label) => `,${values}`.includes(`,${label}${label.includes('=') ? '' : '='}`))
  );
}

describe('the Grafana dashboard', () => {
  verifies('ops.dashboard', async () => {
    await using directory = await tempDirectory();
    const llm = { provider: 'scripted', model: 'offline', script: [{ when: '.*', reply: 'hello there' }] };
    // Waiting for the tool server polls, which would use up the limit on a slow machine.
    const limits = { requestsPerMinute: false };
    const a2a = { push: { allowPrivateAddresses: true } };
    const yaml = JSON.stringify({ llm, limits, a2a, mcpServers: { tools: scriptableServer() } });
    await using receiver = await PushReceiver.start();
    await using service = await RunningService.start({ yaml, dataDir: directory.path });
    await serverWith(service, 'tools', 'connected');
    await service.post('/api/message-sync', { message: 'hello' });
    await execute(service, 'tools', 'fail', { reason: 'to be counted' });
    await service.fetch('/a2a/message:send', {
      method: 'POST',
      headers: { 'A2A-Version': '1.0', 'Content-Type': 'application/json' },
      body: JSON.stringify({
        message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
        configuration: { taskPushNotificationConfig: { url: receiver.url } },
      }),
    });

    const lines = await eventually(
      async () => (await (await service.fetch('/metrics')).text()).split('\n'),
      (shown) => shown.some((line) => line.startsWith('agent_push_attempts_total{')),
    );
    const asks = dashboardAsks();
    expect(asks.length).toBeGreaterThan(30);
    expect(asks.filter((asked) => !lines.some((line) => isOf(line, asked)))).toEqual([]);
  });
});
