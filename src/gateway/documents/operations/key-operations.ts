import { scopeOf } from '../../../ports/request-rules.ts';
import {
  CreateKeyRequest,
  CreateKeyResponse,
  KeyPath,
  KeysResponse,
  RevokeKeyResponse,
} from '../../../wire/api-keys.ts';
import { errorExamples } from './error-examples.ts';
import { EXAMPLE_TIME, JSON_TYPE, type Operation, ok } from './operation.ts';

const ONLY_WITH_KEYS =
  'Only where `auth.apiKeys` is on. An administrator manages the keys of the own tenant and sees no others.';

const ci = {
  keyId: 'c1Q3mJr7',
  name: 'ci',
  roles: ['user'],
  tenant: 'default',
  status: 'active',
  createdAt: EXAMPLE_TIME,
};

const createKey: Operation = {
  id: 'createKey',
  scope: scopeOf('key.create'),
  method: 'POST',
  path: '/api/keys',
  tag: 'Access',
  summary: 'Create an API key',
  description: `${ONLY_WITH_KEYS} The answer is the only one that has the key. Takes no \`Idempotency-Key\`, because the answer would have to be stored.`,
  body: { schema: CreateKeyRequest, required: true },
  answers: { [JSON_TYPE]: CreateKeyResponse },
  errors: ['MISSING_FIELD', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'created',
      summary: 'A key that expires',
      body: { name: 'deploy', roles: ['user'], expiresInDays: 90 },
      answer: ok({
        keyId: 'x7Jp02Lk',
        name: 'deploy',
        roles: ['user'],
        tenant: 'default',
        status: 'created',
        createdAt: EXAMPLE_TIME,
        expiresAt: '2027-02-19T05:51:26.421Z',
        key: 'as_x7Jp02Lk_…',
      }),
    },
    {
      name: 'unknownRole',
      summary: 'A role that the service does not have',
      body: { name: 'deploy', roles: ['root'] },
      answer: {
        error: 'INVALID_REQUEST',
        message: 'The field roles is not valid: there is no role "root".',
        details: {
          field: 'roles',
          issue: 'there is no role "root"',
          suggestion: 'Use one of reader, user, approver, operator, admin.',
        },
      },
    },
    {
      name: 'otherTenant',
      summary: 'A key for another tenant',
      body: { name: 'deploy', roles: ['user'], tenant: 'elsewhere' },
      answer: {
        error: 'FORBIDDEN',
        message: 'An API key can be created only for your own tenant.',
        details: { field: 'tenant', issue: 'it is another tenant', suggestion: 'Leave it out.' },
      },
    },
  ],
};

const listKeys: Operation = {
  id: 'listKeys',
  scope: scopeOf('key.list'),
  method: 'GET',
  path: '/api/keys',
  tag: 'Access',
  summary: 'List the API keys',
  description: `${ONLY_WITH_KEYS} Keys that were revoked or have expired are listed, too.`,
  answers: { [JSON_TYPE]: KeysResponse },
  errors: [],
  examples: [{ name: 'keys', summary: 'One key', answer: ok({ keys: [ci] }) }],
};

const revokeKey: Operation = {
  id: 'revokeKey',
  scope: scopeOf('key.revoke'),
  method: 'DELETE',
  path: '/api/keys/:keyId',
  tag: 'Access',
  summary: 'Revoke an API key',
  description: `${ONLY_WITH_KEYS} The key is refused from the answer on. Revoking it again has the same answer.`,
  pathParameters: KeyPath,
  answers: { [JSON_TYPE]: RevokeKeyResponse },
  errors: ['API_KEY_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'revoked',
      summary: 'The key is revoked',
      parameters: { keyId: ci.keyId },
      answer: ok({ ...ci, status: 'revoked', revokedAt: EXAMPLE_TIME }),
    },
    {
      name: 'unknown',
      summary: 'There is no such key',
      parameters: { keyId: 'nobodys0' },
      answer: { error: 'API_KEY_NOT_FOUND', ...errorExamples.API_KEY_NOT_FOUND },
    },
  ],
};

/** API keys. */
export const keyOperations: readonly Operation[] = [createKey, listKeys, revokeKey];
