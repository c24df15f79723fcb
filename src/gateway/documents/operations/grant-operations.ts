import { scopeOf } from '../../../ports/request-rules.ts';
import {
  CreateGrantRequest,
  GrantPath,
  GrantResponse,
  GrantsPath,
  GrantsResponse,
  RevokeGrantResponse,
} from '../../../wire/grants.ts';
import { EXAMPLE_TIME, JSON_TYPE, type Operation, ok } from './operation.ts';

const WHO = 'Only its owner and administrators of its tenant may do this.';

const grant = {
  grantId: '0c7b5a9e-52f1-4d35-8d1f-5b8f3f6f1d11',
  sessionId: 'shared',
  principal: 'key:bob',
  access: 'read',
  createdAt: EXAMPLE_TIME,
  createdBy: 'key:ci',
} as const;

const create: Operation = {
  id: 'shareSession',
  scope: scopeOf('grant.create'),
  method: 'POST',
  path: '/api/sessions/:sessionId/grants',
  tag: 'Access',
  summary: 'Share a session with a principal or a role of its tenant',
  description: `${WHO} \`talk\` and \`approve\` include reading. Whoever gets it calls the session by its whole id, and needs the scopes for what it does.`,
  pathParameters: GrantsPath,
  body: { schema: CreateGrantRequest, required: true },
  answers: { [JSON_TYPE]: GrantResponse },
  errors: ['MISSING_FIELD', 'SESSION_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'shared',
      summary: 'Somebody else may read',
      parameters: { sessionId: 'shared' },
      body: { principal: 'key:bob', access: 'read' },
      answer: ok({ grant }),
    },
  ],
};

const list: Operation = {
  id: 'listGrants',
  scope: scopeOf('grant.list'),
  method: 'GET',
  path: '/api/sessions/:sessionId/grants',
  tag: 'Access',
  summary: 'With whom a session is shared',
  description: WHO,
  pathParameters: GrantsPath,
  answers: { [JSON_TYPE]: GrantsResponse },
  errors: ['SESSION_NOT_FOUND'],
  examples: [
    {
      name: 'grants',
      summary: 'Shared with one principal',
      parameters: { sessionId: 'shared' },
      answer: ok({ grants: [grant] }),
    },
  ],
};

const revoke: Operation = {
  id: 'revokeGrant',
  scope: scopeOf('grant.revoke'),
  method: 'DELETE',
  path: '/api/sessions/:sessionId/grants/:grantId',
  tag: 'Access',
  summary: 'Share a session no more',
  description: `${WHO} WebSockets and event streams that were open by the grant end at once.`,
  pathParameters: GrantPath,
  answers: { [JSON_TYPE]: RevokeGrantResponse },
  errors: ['SESSION_NOT_FOUND', 'GRANT_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'revoked',
      summary: 'The session is shared no more',
      parameters: { sessionId: 'shared', grantId: grant.grantId },
      answer: ok({ status: 'revoked', grant }),
    },
  ],
};

/** Sharing a session, where clients are authenticated. */
export const grantOperations: readonly Operation[] = [create, list, revoke];
