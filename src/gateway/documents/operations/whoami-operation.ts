import { WhoamiResponse } from '../../../wire/whoami.ts';
import { JSON_TYPE, type Operation, ok } from './operation.ts';

/** Only where clients are authenticated. */
export const whoamiOperation: Operation = {
  id: 'whoami',
  scope: null,
  method: 'GET',
  path: '/api/whoami',
  tag: 'Access',
  summary: 'Who the client is',
  description: 'The principal that the credential of this request belongs to, and what it allows.',
  answers: { [JSON_TYPE]: WhoamiResponse },
  errors: [],
  examples: [
    {
      name: 'key',
      summary: 'The user of an API key',
      answer: ok({
        principal: 'key:ci',
        tenant: 'acme',
        roles: ['reader'],
        scopes: ['sessions:read', 'servers:read'],
      }),
    },
  ],
};
