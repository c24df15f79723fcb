import { z } from 'zod';
import { AuditQuery } from '../../../wire/audit.ts';
import { JSON_LINES } from '../../http/json-lines.ts';
import { EXAMPLE_TIME, type Operation } from './operation.ts';

const entry = {
  time: EXAMPLE_TIME,
  principal: 'key:ci',
  tenant: 'default',
  credential: 'key:c1Q3mJr7',
  address: '192.0.2.7',
  what: 'turn.start',
  sessionId: 'default/key:ci/default',
  outcome: 'ok',
};

/** Who did what, where clients are authenticated. */
export const auditOperation: Operation = {
  id: 'readAudit',
  scope: 'admin',
  method: 'GET',
  path: '/api/audit',
  tag: 'Access',
  summary: 'Who did what in your tenant, and what was refused',
  description:
    'JSON Lines, in the order of their seconds. What happened is there within about a second. Contents of conversations are not part of it.',
  query: AuditQuery,
  answers: { [JSON_LINES]: z.string().describe('Each line is an entry.') },
  errors: [],
  examples: [
    {
      name: 'lines',
      summary: 'A message',
      parameters: { principal: 'key:ci' },
      answer: { status: 200, mediaType: JSON_LINES, body: `${JSON.stringify(entry)}\n` },
    },
  ],
};
