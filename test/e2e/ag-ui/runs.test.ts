import { describe, expect } from 'vitest';
import { recordedAgent } from '../../support/ag-ui/recorded-agent.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  systemPrompt: 'Be brief.',
  llm: { provider: 'scripted', model: 'offline' },
  mcpServers: { bank: { type: 'stdio', command: 'none' } },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});

async function start(options: ServiceOptions = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {} });
  const adapters = { model, connector: tools };
  const service = await RunningService.start({ yaml: YAML, adapters, ...options });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}

describe('runs of AG-UI', () => {
  verifies('ag-ui.run', async () => {
    await using rig = await start();
    const ada = recordedAgent(rig.service).say('hello');
    const running = ada.run();
    const call = await rig.model.call(0);
    call.say('Hi ');
    await ada.event('TEXT_MESSAGE_CONTENT');
    call.answerWithUsage({ inputTokens: 9, outputTokens: 2, cachedTokens: 4 }, 'Ada.');
    const { newMessages } = await running;
    expect(newMessages).toMatchObject([{ role: 'assistant', content: 'Hi Ada.' }]);
    expect(ada.types).toEqual([
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(ada.events[0]).toMatchObject({ threadId: 'thread-1', protocolVersion: '1.0' });
    expect(ada.last).toMatchObject({
      outcome: { type: 'success' },
      usage: [{ inputTokens: 9, outputTokens: 2, totalTokens: 11, cachedInputTokens: 4 }],
    });
    const next = ada.say('and now?').run();
    const second = await rig.model.call(1);
    expect(second.request.messages).toMatchObject([
      { role: 'user', text: 'hello' },
      { role: 'assistant', parts: [{ text: 'Hi Ada.' }] },
      { role: 'user', text: 'and now?' },
    ]);
    second.answer('Bye.');
    expect((await next).newMessages).toMatchObject([{ role: 'assistant', content: 'Bye.' }]);
  });

  verifies(
    'ag-ui.run',
    async () => {
      await using rig = await start();
      const ada = recordedAgent(rig.service).say('look');
      const running = ada.run();
      const first = await rig.model.call(0);
      first.say('Let me look.');
      first.askFor({ name: 'look', callId: 'c1', arguments: { at: 'sky' } }, { name: 'look', callId: 'c2' });
      (await rig.tools.call(0)).answer('blue');
      (await rig.tools.call(1)).settle({ status: 'failed', reason: 'it is dark' });
      (await rig.model.call(1)).answer('It is blue.');
      const { newMessages } = await running;
      expect(ada.types).toEqual([
        ...['RUN_STARTED', 'STEP_STARTED'],
        ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
        ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
        ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
        ...['STEP_FINISHED', 'TOOL_CALL_RESULT', 'TOOL_CALL_RESULT'],
        ...['STEP_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
        ...['STEP_FINISHED', 'RUN_FINISHED'],
      ]);
      const called = (id: string, args: string) => ({
        ...{ id, type: 'function' },
        function: { name: 'look', arguments: args },
      });
      expect(newMessages).toMatchObject([
        {
          ...{ role: 'assistant', content: 'Let me look.' },
          toolCalls: [called('c1', '{"at":"sky"}'), called('c2', '{}')],
        },
        { role: 'tool', toolCallId: 'c1', content: 'blue' },
        { role: 'tool', toolCallId: 'c2', content: 'The tool failed: it is dark' },
        { role: 'assistant', content: 'It is blue.' },
      ]);
    },
    'tools of the agent, in several steps',
  );
});
