import { ajvSchemaCheck } from '../../../../src/adapters/ajv/ajv-schema-check.ts';
import { mcpConnector } from '../../../../src/adapters/mcp/mcp-connector.ts';
import type { ToolOutcome } from '../../../../src/core/tool-call/tool.ts';
import type { McpServerConfig } from '../../../../src/core/tool-server/mcp-server-config.ts';
import type { ServerNote } from '../../../../src/core/tool-server/server-log.ts';
import { RecordingLog } from './recording-log.ts';

/** A connector for tests: it records what it logs and what its connections report. */
export function testConnector(deps: Partial<Parameters<typeof mcpConnector>[0]> = {}) {
  const log = new RecordingLog();
  const connector = mcpConnector({
    log,
    schemas: ajvSchemaCheck(log),
    environment: process.env,
    binFolders: [],
    ownProgram: [process.execPath],
    clientVersion: '1.2.3',
    stopGraceMs: 200,
    ...deps,
  });
  const closings: string[] = [];
  const closed = Promise.withResolvers<string>();
  const toolsChanged = Promise.withResolvers<void>();
  let changes = 0;
  const notes: ServerNote[] = [];
  const events = {
    onClosed: (reason: string) => {
      closings.push(reason);
      closed.resolve(reason);
    },
    onNote: (note: ServerNote) => void notes.push(note),
    onToolsChanged: () => {
      changes += 1;
      toolsChanged.resolve();
    },
  };
  return {
    log,
    /** What the server said so far. */
    notes,
    /** Each reason that `onClosed` was called with. */
    closings,
    closed: closed.promise,
    toolsChanged: toolsChanged.promise,
    /** How often it was told so far that the tools have changed. */
    changes: () => changes,
    connect: (config: McpServerConfig, signal = new AbortController().signal) =>
      connector.connect('under-test', config, events, signal),
    /** The process ids that `odd-server.ts` reports. */
    pids: () =>
      log.find(({ fields: { line } }) =>
        typeof line === 'string' && line.startsWith('pids ')
          ? line.split(' ').slice(1).map(Number)
          : undefined,
      ),
  };
}

/** What a tool said, or why it did not. */
export function said(outcome: ToolOutcome): unknown {
  return outcome.status === 'failed' ? outcome : outcome.result.content[0]?.text;
}
