import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadHttp } from './support/http-load.ts';
import { ServerProcess } from './support/server-process.ts';

export const question =
  'How many message-sync requests a second, against bare uWebSockets.js doing the same bytes?';

const SESSIONS = 500;

export type Row = Record<string, string | number>;

/** The control row first; every ratio is to it, in the same run. */
export async function run({ quick }: { quick: boolean }): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'agent-service-bench-'));
  const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const service = (dataDir: string): Promise<ServerProcess> =>
    ServerProcess.start(file('../src/app/main.ts'), [
      ...['--agent', file('agent.yml'), '--web-port', '0', '--data-dir', dataDir, '--log-level', 'silent'],
    ]);
  const subjects = [
    { name: 'floor', start: () => ServerProcess.start(file('controls/floor.ts')) },
    { name: 'agent-service, log in memory', start: () => service(':memory:') },
    { name: 'agent-service, log on disk', start: () => service(directory) },
  ];
  try {
    const rows: Row[] = [];
    for (const { name, start } of subjects) rows.push(...(await measure(name, await start(), quick)));
    return rows.map((row) => ({ ...row, 'ratio to floor': ratio(row, rows) }));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function measure(name: string, server: ServerProcess, quick: boolean): Promise<Row[]> {
  const requests = quick ? 500 : 10_000;
  const bodyOf = (index: number): string =>
    JSON.stringify({ message: 'hello', sessionId: `s${index % SESSIONS}` });
  try {
    await loadHttp(server.port, '/api/message-sync', 10, requests, bodyOf);
    const rows: Row[] = [];
    for (const inFlight of [1, 10, 50]) {
      const cpuBefore = server.cpuMs();
      const { seconds, latencies } = await loadHttp(
        server.port,
        '/api/message-sync',
        inFlight,
        requests,
        bodyOf,
      );
      rows.push({
        server: name,
        'in flight': inFlight,
        'requests/s': Math.round(requests / seconds),
        'CPU µs/request': Math.round(((server.cpuMs() - cpuBefore) * 1_000) / requests),
        'p50 ms': percentile(latencies, 0.5),
        'p99 ms': percentile(latencies, 0.99),
      });
    }
    return rows;
  } finally {
    await server.stop();
  }
}

function ratio(row: Row, rows: readonly Row[]): number {
  const floor = rows.find((other) => other['in flight'] === row['in flight']);
  return Number((Number(row['requests/s']) / Number(floor?.['requests/s'])).toFixed(3));
}

function percentile(ascending: readonly number[], share: number): number {
  return Number((ascending[Math.floor(ascending.length * share)] ?? Number.NaN).toFixed(2));
}
