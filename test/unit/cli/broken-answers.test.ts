import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { runAudit } from '../../../src/cli/audit/run-audit.ts';
import { downloadExport } from '../../../src/cli/service/session-resources.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

it('an answer that breaks off is named, with its service', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200);
    response.flushHeaders();
    response.socket?.end();
  });
  await listenLocally(server);
  const url = originOf(server);
  const brokenOff = `at ${url}: the service broke it off before its end`;
  try {
    await expect(runAudit({ log: { url }, wanted: {} })).rejects.toThrow(`the audit trail ${brokenOff}`);
    const { chunks } = await downloadExport({ url }, 'a');
    await expect(Array.fromAsync(chunks)).rejects.toThrow(`session a ${brokenOff}`);
  } finally {
    await closeAtOnce(server);
  }
});
