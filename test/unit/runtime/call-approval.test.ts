import { expect, it } from 'vitest';
import { knowsForms } from '../../../src/core/tool-server/elicitation.ts';
import { approvalQuestion as ofAgent } from '../../../src/gateway/mcp/agent/asked-approval.ts';
import { approvalQuestion } from '../../../src/runtime/tools/call-approval.ts';

it('whoever approves a call sees what hides in its arguments', () => {
  const args = { to: 'bob\u202eecila' };
  const tool = { serverId: 's', toolName: 'pay', policy: 'ask' } as const;
  const pending = {
    turnId: 't',
    callId: 'c',
    toolName: 'pay',
    serverId: 's',
    since: '2026-11-28T00:00:00.000Z',
    arguments: args,
    argumentsHash: 'h',
  };
  for (const question of [approvalQuestion(tool, { arguments: args }).params, ofAgent(pending)])
    expect(question.message).toContain('{"to":"bob\\u202eecila"}');
});

it.each([
  [{ elicitation: {} }, true],
  [{ elicitation: { form: {} } }, true],
  [{ elicitation: { form: {}, url: {} } }, true],
  [{ elicitation: { url: {} } }, false],
  [{}, false],
  [undefined, false],
])('a client is asked for an approval if it can show a form: %j', (capabilities, isAsked) => {
  expect(knowsForms(capabilities)).toBe(isAsked);
});
