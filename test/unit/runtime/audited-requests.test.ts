import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { contextOf } from '../../../src/core/request/request-context.ts';
import { auditEntry } from '../../../src/runtime/access/audited-requests.ts';
import { identity } from '../../support/access/known-tokens.ts';

const client = contextOf(identity('ada'), '192.0.2.7');
const ada = {
  principal: 'test:ada',
  tenant: 'acme',
  credential: 'credential-of-ada',
  address: '192.0.2.7',
};
const own = ['acme/test:ada/x'];

describe('the audit entry of a request', () => {
  it('says whether an approval was given', () => {
    const request = { sessionId: own[0], callId: 'call_1', approved: false, reason: 'a private reason' };
    expect(auditEntry('approval.answer', { request, ids: own, client })).toEqual({
      ...ada,
      what: 'approval.answer',
      sessionId: own[0],
      subject: 'call_1',
      approved: false,
      outcome: 'ok',
    });
  });

  it('says with whom a session is shared, and what a fork makes', () => {
    const grant = { sessionId: own[0], principal: 'test:bob', access: 'read' };
    expect(auditEntry('grant.create', { request: grant, ids: own, client })?.subject).toBe('test:bob read');
    const fork = { from: own[0], to: 'acme/test:ada/y' };
    expect(auditEntry('session.fork', { request: fork, ids: own, client })?.subject).toBe('acme/test:ada/y');
  });

  it('names the agent if there are several, whatever the agent is called', () => {
    const request = { serverId: 'files', toolName: 'read' };
    const entry = (agentPath?: string) =>
      auditEntry('tool.execute', { request, ids: [], client: { ...client, agent: 'default', agentPath } });
    expect(entry('/agents/default')).toMatchObject({ agentId: 'default' });
    expect(entry()).not.toHaveProperty('agentId');
  });

  it('cuts names that are too long', () => {
    const request = { serverId: 'files', toolName: 'x'.repeat(100_000) };
    expect(auditEntry('tool.execute', { request, ids: [], client })?.subject).toHaveLength(200);
  });

  it('quotes nothing of what was sent, but says why it was refused', () => {
    const request = { serverId: 'files', toolName: 'read' };
    const invalid = new ServiceError('INVALID_REQUEST', 'No.', { issue: 'found "a private word"' });
    expect(auditEntry('tool.execute', { request, ids: [], client }, invalid)).toEqual({
      ...ada,
      what: 'tool.execute',
      subject: 'files read',
      outcome: 'INVALID_REQUEST',
    });
    const forbidden = new ServiceError('FORBIDDEN', 'No.', { scope: 'tools:execute' });
    expect(auditEntry('tool.execute', { request, ids: [], client }, forbidden)?.reason).toBe('tools:execute');
  });

  it('has what reads only if the session is not the own one, or if it was refused', () => {
    const request = { sessionId: own[0], afterSeq: 0, limit: 10 };
    expect(auditEntry('session.events', { request, ids: own, client })).toBeNull();
    expect(auditEntry('session.events', { request, ids: ['acme/test:bob/x'], client })).not.toBeNull();
    const unknown = new ServiceError('SESSION_NOT_FOUND', 'There is no session x.', {});
    expect(auditEntry('session.events', { request, ids: own, client }, unknown)?.outcome).toBe(
      'SESSION_NOT_FOUND',
    );
  });
});
