import { expect, it } from 'vitest';
import { howToAnswer, howToDecide } from '../../../../src/gateway/turns/how-to-answer.ts';

const call = {
  turnId: 't',
  callId: 'c/1',
  toolName: 'pay',
  serverId: null,
  since: '2026-01-01T00:00:00.000Z',
};
const approval = { ...call, arguments: {}, argumentsHash: 'h' };
const input = {
  ...call,
  inputId: 'i',
  message: 'Sure?',
  question: { mode: 'url', url: 'https://bank.example/' } as const,
};

it.each([
  [undefined, 'plan', '/api/sessions/plan'],
  [undefined, 'acme/test:ann/plan', '/api/sessions/acme%2Ftest%3Aann%2Fplan'],
  ['/agents/shop', 'plan', '/agents/shop/api/sessions/plan'],
])('what waits at the agent %s in the session %s is answered at %s', (agentPath, sessionId, path) => {
  const session = { agentPath, sessionId };
  expect(howToDecide(session, [approval])).toContain(`POST ${path}/approvals/c%2F1.`);
  expect(howToAnswer(session, input)).toContain(`POST ${path}/inputs/i.`);
});
