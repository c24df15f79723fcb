import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { Scope } from '../../../src/core/access/scopes.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { GrantBook } from '../../../src/runtime/access/grant-book.ts';
import { TRANSLATIONS } from '../../../src/runtime/access/translated-requests.ts';
import { VisibleSessions } from '../../../src/runtime/access/visible-sessions.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const details = { authorizationUrl: 'https://login.example.com/authorize' };
const server = { id: 'a', name: 'a', status: 'error', type: 'http', error: 'e' } as const;

async function seenWith(...scopes: Scope[]): Promise<unknown> {
  const rights = { scopes: new Set(scopes), roles: [], credential: 'key-1' };
  const visible = new VisibleSessions(await GrantBook.load(memoryEventStore(), recordingLog()));
  const client = { ...ANYONE, rights };
  return TRANSLATIONS['mcp-server.list']?.outward?.([{ ...server, details }], client, visible);
}

describe('the address at which a tool server is authorized', () => {
  it('is shown only to who may connect servers', async () => {
    expect(await seenWith('servers:read', 'servers:write')).toEqual([{ ...server, details }]);
    expect(await seenWith('servers:read')).toEqual([server]);
  });
});
