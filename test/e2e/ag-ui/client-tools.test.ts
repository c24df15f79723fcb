import type { Tool } from '@ag-ui/core';
import { describe, expect } from 'vitest';
import { startAgUi } from '../../support/ag-ui/ag-ui-rig.ts';
import { type RecordedAgent, recordedAgent } from '../../support/ag-ui/recorded-agent.ts';
import { CrossingStore } from '../../support/log/crossing-store.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

type Rig = Awaited<ReturnType<typeof startAgUi>>;

const tools: Tool[] = [
  { name: 'pick', description: 'Picks a colour.', parameters: { type: 'object', properties: {} } },
];
const answer = (ada: RecordedAgent, toolCallId: string, content: string) =>
  ada.agent.addMessage({ id: `answer-${toolCallId}`, role: 'tool', toolCallId, content });

/** A page whose run has ended with a call of its tool. */
async function called({ service, model }: Rig): Promise<RecordedAgent> {
  const ada = recordedAgent(service).say('Which colour?');
  const running = ada.run({ tools });
  const call = await model.call(0);
  expect(call.request.tools.map(({ name }) => name)).toContain('pick');
  call.askFor({ name: 'pick', callId: 'p1', arguments: { of: 'door' } });
  await running;
  return ada;
}

describe('tools of a page', () => {
  verifies('ag-ui.client-tools', async () => {
    await using rig = await startAgUi();
    const ada = await called(rig);
    expect(ada.types.slice(-5)).toEqual([
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'STEP_FINISHED', 'RUN_FINISHED'],
    ]);
    expect(ada.last).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['p1'] } });
    answer(ada, 'p1', 'red');
    // What the page keeps beside the conversation is no part of it.
    ada.agent.addMessage({ id: 'shown', role: 'activity', activityType: 'note', content: {} });
    const going = ada.run({ tools, runId: 'r2' });
    const next = await rig.model.call(1);
    expect(next.request.messages.at(-1)).toMatchObject({ role: 'tool', callId: 'p1', text: 'red' });
    next.answer('Red it is.');
    await going;
    expect(ada.types).not.toContain('TOOL_CALL_RESULT');
    expect(ada.agent.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', toolCalls: [{ id: 'p1' }] },
      { role: 'tool', toolCallId: 'p1', content: 'red' },
      { role: 'activity' },
      { role: 'assistant', content: 'Red it is.' },
    ]);
    // The same run again tells the same, and asks nobody.
    const again = recordedAgent(rig.service);
    again.agent.setMessages(ada.agent.messages.slice(0, 3));
    expect((await again.run({ tools, runId: 'r2' })).newMessages).toMatchObject([{ content: 'Red it is.' }]);
    expect(rig.model.calls).toHaveLength(2);
  });

  verifies('ag-ui.client-tools', 'over a restart, with an error', async () => {
    await using folder = await tempDirectory();
    {
      await using rig = await startAgUi({ dataDir: folder.path });
      await called(rig);
    }
    await using rig = await startAgUi({ dataDir: folder.path });
    const page = recordedAgent(rig.service);
    await page.run();
    expect(page.last).toMatchObject({ outcome: { pendingToolCallIds: ['p1'] } });
    page.agent.addMessage({ id: 'x', role: 'tool', toolCallId: 'p1', content: '', error: 'no picker' });
    const going = page.run({ tools });
    const call = await rig.model.call(0);
    expect(call.request.messages.at(-1)).toMatchObject({ text: 'The tool failed: no picker' });
    call.answer('Too bad.');
    await going;
    expect(page.agent.messages.at(-1)).toMatchObject({ content: 'Too bad.' });
  });

  verifies('ag-ui.client-tools', 'a page that comes back keeps its results in their places', async () => {
    await using rig = await startAgUi();
    const ada = await called(rig);
    answer(ada, 'p1', 'red');
    const cut = ada.run({ tools });
    const call = await rig.model.call(1);
    call.say('Red ');
    await ada.told('Red ');
    ada.agent.abortRun();
    await cut;
    call.answer('it is.');
    await expect.poll(async () => (await viewOf(rig.service, 'thread-1')).turns.completed).toBe(1);
    await ada.run({ tools });
    expect(ada.types).toContain('MESSAGES_SNAPSHOT');
    expect(ada.agent.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', toolCalls: [{ id: 'p1' }] },
      { id: 'answer-p1', role: 'tool', toolCallId: 'p1', content: 'red' },
      { role: 'assistant', content: 'Red it is.' },
    ]);
  });

  verifies('ag-ui.client-tools', 'the same run, asked for twice at once', async () => {
    const store = new CrossingStore();
    await using rig = await startAgUi({ adapters: { store } });
    const ada = await called(rig);
    answer(ada, 'p1', 'red');
    const same = recordedAgent(rig.service);
    same.agent.setMessages(ada.agent.messages);
    const running = [ada.run({ tools, runId: 'r2' })];
    await store.held;
    running.push(same.run({ tools, runId: 'r2' }));
    (await rig.model.call(1)).answer('Red it is.');
    for (const { newMessages } of await Promise.all(running))
      expect(newMessages).toMatchObject([{ content: 'Red it is.' }]);
    expect(same.types).toEqual(ada.types);
    expect(rig.model.calls).toHaveLength(2);
  });

  verifies('ag-ui.client-tools', 'a message that follows the result at once', async () => {
    await using rig = await startAgUi();
    const ada = await called(rig);
    ada.say('never mind');
    await expect(ada.run({ tools })).rejects.toMatchObject({
      status: 409,
      payload: { error: { code: 'SESSION_BUSY', details: { field: 'messages', toolCallIds: ['p1'] } } },
    });
    ada.agent.setMessages(ada.agent.messages.filter(({ id }) => id !== 'user-2'));
    // A page may answer and go on to something else at once: then only that is answered.
    answer(ada, 'p1', 'red');
    const going = ada.say('What is the time?').run({ tools });
    const call = await rig.model.callFor('What is the time?');
    call.answer('Noon.');
    expect((await going).newMessages).toMatchObject([{ role: 'assistant', content: 'Noon.' }]);
    expect(call.request.messages.filter(({ role }) => role === 'tool')).toMatchObject([{ text: 'red' }]);
  });
});
