import { buildResumeArray } from '@ag-ui/client';
import { describe, expect } from 'vitest';
import { startAgUi } from '../../support/ag-ui/ag-ui-rig.ts';
import { type RecordedAgent, recordedAgent } from '../../support/ag-ui/recorded-agent.ts';
import { CrossingStore } from '../../support/log/crossing-store.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

type Rig = Awaited<ReturnType<typeof startAgUi>>;

const pay = (callId: string, to: string) => ({ name: 'pay', callId, arguments: { to } });
const approve = { status: 'resolved', payload: { approved: true } } as const;
const cancel = { status: 'cancelled' } as const;
const deny = { status: 'resolved', payload: { approved: false, reason: 'too much' } } as const;

/** A page whose run has ended where two payments wait for approval. */
async function asked({ service, model }: Rig, runId = 'r1'): Promise<RecordedAgent> {
  const ada = recordedAgent(service).say('pay Ann and Bob');
  const running = ada.run({ runId });
  (await model.call(model.calls.length)).askFor(pay('c1', 'Ann'), pay('c2', 'Bob'));
  await running;
  return ada;
}

/** By the ids of the calls. */
function answersTo(
  { agent }: RecordedAgent,
  byCall: Record<string, typeof approve | typeof deny | typeof cancel>,
) {
  const answers = agent.pendingInterrupts.map(({ id, toolCallId = '' }) => [id, byCall[toolCallId]]);
  return buildResumeArray(agent.pendingInterrupts, Object.fromEntries(answers));
}

describe('interrupts of AG-UI', () => {
  verifies('ag-ui.interrupt', async () => {
    await using rig = await startAgUi();
    const ada = await asked(rig);
    expect(ada.types).toEqual([
      ...['RUN_STARTED', 'STEP_STARTED'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
      ...['STEP_FINISHED', 'RUN_FINISHED'],
    ]);
    expect(ada.agent.pendingInterrupts).toMatchObject([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}~c1$/),
        reason: 'approval',
        toolCallId: 'c1',
        metadata: { toolName: 'pay', arguments: { to: 'Ann' } },
      },
      { reason: 'approval', toolCallId: 'c2', message: 'The agent wants to call pay.' },
    ]);
    expect(ada.agent.state).toMatchObject({
      session: { status: 'waiting', approvals: [{ callId: 'c1' }, { callId: 'c2' }] },
    });
    // A page that asks for the run again gets the same interrupts.
    const again = recordedAgent(rig.service).say('pay Ann and Bob');
    await again.run({ runId: 'r1' });
    expect(again.agent.pendingInterrupts).toEqual(ada.agent.pendingInterrupts);
    const resume = answersTo(ada, { c1: approve, c2: deny });
    const going = ada.run({ resume });
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).answer('Ann is paid, Bob is not.');
    const { newMessages } = await going;
    const results = newMessages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
    expect(results.toSorted()).toEqual(['The tool failed: it was denied: too much', 'paid']);
    expect(newMessages.at(-1)).toMatchObject({ role: 'assistant', content: 'Ann is paid, Bob is not.' });
    expect(ada.last).toMatchObject({ outcome: { type: 'success' } });
    expect(ada.agent.pendingInterrupts).toEqual([]);
    expect(rig.tools.calls).toHaveLength(1);
    expect((await viewOf(rig.service, 'thread-1')).turns).toMatchObject({ requested: 1, completed: 1 });
  });

  verifies(
    'ag-ui.interrupt',
    'a page that lost its turn is told it beyond what others have decided',
    async () => {
      await using rig = await startAgUi();
      await asked(rig);
      await rig.service.post('/api/sessions/thread-1/approvals/c1', { decision: 'deny' });
      await rig.service.post('/api/sessions/thread-1/approvals/c2', { decision: 'deny' });
      const call = await rig.model.call(1);
      // It has only the message, and runs it again in a run of its own.
      const page = recordedAgent(rig.service).say('pay Ann and Bob');
      const running = page.run();
      await page.event('TOOL_CALL_RESULT');
      call.answer('Nobody is paid.');
      await running;
      expect(page.last).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
      expect(page.agent.messages.at(-1)).toMatchObject({ content: 'Nobody is paid.' });
      expect(rig.model.calls).toHaveLength(2);
    },
  );

  verifies('ag-ui.interrupt', 'one of two is answered', async () => {
    await using rig = await startAgUi();
    const ada = await asked(rig);
    const resume = answersTo(ada, { c1: approve, c2: approve }).slice(0, 1);
    ada.agent.pendingInterrupts = [];
    // The protocol leaves it to the client to answer all of them.
    const first = ada.run({ resume });
    (await rig.tools.call(0)).answer('paid');
    await first;
    expect(ada.agent.pendingInterrupts).toMatchObject([{ toolCallId: 'c2' }]);
    const second = ada.run({ resume: answersTo(ada, { c2: cancel }) });
    (await rig.model.call(1)).answer('Only Ann.');
    await second;
    expect(ada.agent.messages.at(-1)).toMatchObject({ content: 'Only Ann.' });
  });

  verifies('ag-ui.interrupt', 'beside a call of a tool of the page', async () => {
    await using rig = await startAgUi();
    const tools = [{ name: 'pick', description: 'Picks a colour.' }];
    const ada = recordedAgent(rig.service).say('pay Ann in red');
    const running = ada.run({ tools });
    (await rig.model.call(0)).askFor(pay('c1', 'Ann'), { name: 'pick', callId: 'p1' });
    await running;
    expect(ada.agent.pendingInterrupts).toMatchObject([{ toolCallId: 'c1' }]);
    const paying = ada.run({ tools, resume: answersTo(ada, { c1: approve }) });
    (await rig.tools.call(0)).answer('paid');
    await paying;
    expect(ada.last).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['p1'] } });
    ada.agent.addMessage({ id: 'picked', role: 'tool', toolCallId: 'p1', content: 'red' });
    const going = ada.run({ tools });
    (await rig.model.call(1)).answer('Done.');
    await going;
    expect(ada.agent.messages.at(-1)).toMatchObject({ content: 'Done.' });
  });

  verifies('ag-ui.interrupt', 'over a restart, and answered twice in the same way', async () => {
    await using folder = await tempDirectory();
    {
      await using rig = await startAgUi({ dataDir: folder.path });
      await asked(rig);
    }
    await using rig = await startAgUi({ dataDir: folder.path });
    // A page that was opened after the restart finds the interrupts in the thread.
    const page = recordedAgent(rig.service);
    await page.run();
    const { messages } = page.agent;
    expect(messages).toMatchObject([
      { role: 'user', content: 'pay Ann and Bob' },
      { role: 'assistant', toolCalls: [{ id: 'c1' }, { id: 'c2' }] },
    ]);
    const resume = answersTo(page, { c1: approve, c2: approve });
    const going = page.run({ resume });
    (await rig.tools.call(0)).answer('paid');
    (await rig.tools.call(1)).answer('paid');
    (await rig.model.call(0)).answer('Both.');
    await going;
    const told = page.types;
    // The same answers again tell the same, and do nothing.
    const again = recordedAgent(rig.service);
    await again.run({ resume });
    expect(again.types).toEqual(told);
    expect(rig.tools.calls).toHaveLength(2);
  });

  verifies('ag-ui.interrupt', 'the same run, asked for twice at once', async () => {
    const store = new CrossingStore();
    await using rig = await startAgUi({ adapters: { store } });
    await asked(rig);
    const resume = [
      { interruptId: 'c1', ...approve },
      { interruptId: 'c2', ...deny },
    ];
    const [one, two] = [recordedAgent(rig.service), recordedAgent(rig.service)];
    const running = [one.run({ runId: 'r2', resume })];
    await store.held;
    running.push(two.run({ runId: 'r2', resume }));
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).answer('Ann is paid.');
    await Promise.all(running);
    expect(two.types).toEqual(one.types);
    expect(two.agent.messages.at(-1)).toMatchObject({ content: 'Ann is paid.' });
    expect(rig.tools.calls).toHaveLength(1);
    expect(rig.model.calls).toHaveLength(2);
  });

  verifies(
    'ag-ui.again',
    'with answers to interrupts, by a page that has a part of what came of them',
    async () => {
      await using rig = await startAgUi();
      const ada = await asked(rig);
      const run = { runId: 'r2', resume: answersTo(ada, { c1: approve, c2: deny }) };
      const cut = ada.run(run);
      (await rig.tools.call(0)).answer('paid');
      const reply = await rig.model.call(1);
      reply.say('Ann ');
      await ada.event('TEXT_MESSAGE_CONTENT');
      ada.agent.abortRun();
      await cut;
      // The page has both results and a part of the reply. The interrupts still wait for it, so it sends the answers again.
      const again = ada.run(run);
      await ada.event('TEXT_MESSAGE_CONTENT');
      reply.answer('is paid.');
      await again;
      const fresh = recordedAgent(rig.service);
      await fresh.run();
      expect(ada.agent.messages).toEqual(fresh.agent.messages);
      expect(ada.agent.messages.map(({ role }) => role)).toEqual([
        ...['user', 'assistant', 'tool', 'tool', 'assistant'],
      ]);
      expect(ada.agent.messages.at(-1)).toMatchObject({ content: 'Ann is paid.' });
      expect(rig.tools.calls).toHaveLength(1);
    },
  );

  verifies(
    'ag-ui.again',
    'with answers to interrupts, by a page whose own tool has answered, too',
    async () => {
      await using rig = await startAgUi();
      const tools = [{ name: 'pick', description: 'Picks a colour.' }];
      const ada = recordedAgent(rig.service).say('pay Ann in red');
      const running = ada.run({ tools });
      (await rig.model.call(0)).askFor(pay('c1', 'Ann'), { name: 'pick', callId: 'p1' });
      await running;
      const resume = answersTo(ada, { c1: approve });
      ada.agent.addMessage({ id: 'picked', role: 'tool', toolCallId: 'p1', content: 'red' });
      const cut = ada.run({ runId: 'r2', tools, resume });
      (await rig.tools.call(0)).answer('paid');
      await ada.event('TOOL_CALL_RESULT');
      ada.agent.abortRun();
      await cut;
      const again = ada.run({ runId: 'r2', tools, resume });
      (await rig.model.call(1)).answer('Done.');
      await again;
      const results = ada.agent.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      expect(results.toSorted()).toEqual(['paid', 'red']);
      expect(ada.agent.messages.at(-1)).toMatchObject({ content: 'Done.' });
    },
  );

  verifies(
    'ag-ui.interrupt',
    'one of two is denied, and the run for the other does not tell that once more',
    async () => {
      await using rig = await startAgUi();
      const ada = await asked(rig);
      const all = answersTo(ada, { c1: deny, c2: approve });
      ada.agent.pendingInterrupts = [];
      await ada.run({ resume: all.filter(({ payload }) => payload === deny.payload) });
      expect(ada.agent.pendingInterrupts).toMatchObject([{ toolCallId: 'c2' }]);
      const going = ada.run({ resume: answersTo(ada, { c2: approve }) });
      (await rig.tools.call(0)).answer('paid');
      (await rig.model.call(1)).answer('Only Bob.');
      await going;
      const results = ada.agent.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      expect(results.toSorted()).toEqual(['The tool failed: it was denied: too much', 'paid']);
    },
  );

  verifies('ag-ui.interrupt', 'answers that nothing waits for are refused', async () => {
    await using rig = await startAgUi();
    const ada = await asked(rig);
    const refused = async (resume: object[], messages: object[] = []) => {
      const body = { threadId: 'thread-1', runId: 'r2', messages, resume };
      const answer = await rig.service.post('/ag-ui', body);
      return Object(await answer.json()).error;
    };
    const unknown = [{ interruptId: 'c9', ...approve }];
    expect(await refused(unknown)).toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
      details: { field: 'resume', interruptId: 'c9' },
    });
    expect(await refused([{ interruptId: 'c1', status: 'resolved' }])).toMatchObject({
      code: 'MISSING_FIELD',
      details: { field: 'resume.0.payload' },
    });
    const message = [{ id: 'u9', role: 'user', content: 'and Cleo' }];
    expect(await refused([{ interruptId: 'c1', ...approve }], message)).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'messages.0' },
    });
    expect(await refused([], message)).toMatchObject({
      code: 'SESSION_BUSY',
      details: {
        field: 'resume',
        interrupts: [expect.stringMatching(/~c1$/), expect.stringMatching(/~c2$/)],
        toolCallIds: [],
      },
    });
    // Somebody denies one of the calls meanwhile.
    await rig.service.post('/api/sessions/thread-1/approvals/c1', { decision: 'deny' });
    expect(await refused([{ interruptId: 'c1', ...approve }])).toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
      details: { field: 'resume', callId: 'c1', reason: 'the call was denied before' },
    });
    expect(rig.tools.calls).toEqual([]);
    const going = ada.run({
      resume: [...answersTo(ada, { c1: cancel, c2: approve }), { interruptId: 'c9', ...approve }],
    });
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).answer('Bob is paid.');
    await going;
    expect(await ada.event('CUSTOM')).toMatchObject({ value: expect.stringContaining('c9') });
    expect(ada.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
  });

  verifies(
    'ag-ui.interrupt',
    'an answer to an earlier turn is none to a later one, also where the calls have the same ids',
    async () => {
      await using rig = await startAgUi();
      const { service, tools } = rig;
      const stale = answersTo(await asked(rig), { c1: approve, c2: approve });
      await service.post('/api/reset', { sessionId: 'thread-1' });
      const anew = await asked(rig, 'r2');
      const refused = async (resume: object[]) => {
        const body = { threadId: 'thread-1', runId: 'r3', messages: [], resume };
        const answer = await service.post('/ag-ui', body);
        return { status: answer.status, ...Object(await answer.json()).error };
      };
      expect(await refused(stale)).toMatchObject({ status: 404, code: 'APPROVAL_NOT_FOUND' });
      // The id of the call alone may have been meant for either turn.
      expect(await refused([{ interruptId: 'c1', ...approve }])).toMatchObject({
        status: 404,
        code: 'APPROVAL_NOT_FOUND',
        details: { field: 'resume', callId: 'c1', reason: expect.stringContaining('several turns') },
      });
      expect(tools.calls).toEqual([]);
      const going = anew.run({ resume: answersTo(anew, { c1: approve, c2: deny }) });
      (await tools.call(0)).answer('paid');
      (await rig.model.call(2)).answer('Ann is paid.');
      await going;
      expect(tools.calls).toHaveLength(1);
    },
  );

  for (const end of ['cancel', 'reset', 'delete'] as const)
    verifies(
      'ag-ui.interrupt',
      `a page lets go of interrupts that ended with ${end} of the session`,
      async () => {
        await using rig = await startAgUi();
        const { service } = rig;
        const ada = await asked(rig);
        if (end === 'cancel') await service.post('/api/sessions/thread-1/cancel');
        else if (end === 'reset') await service.post('/api/reset', { sessionId: 'thread-1' });
        else await service.fetch('/api/sessions/thread-1', { method: 'DELETE' });
        const body = { threadId: 'thread-1', runId: 'late', messages: [] };
        const late = await service.post('/ag-ui', {
          ...body,
          resume: answersTo(ada, { c1: approve, c2: cancel }),
        });
        expect(Object(await late.json()).error).toMatchObject({
          code: 'APPROVAL_NOT_FOUND',
          details: { suggestion: expect.stringContaining('with the status cancelled') },
        });
        await ada.run({ resume: answersTo(ada, { c1: cancel, c2: cancel }) });
        expect(ada.types).toEqual(
          end === 'delete'
            ? ['RUN_STARTED', 'CUSTOM', 'CUSTOM', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']
            : ['RUN_STARTED', 'TOOL_CALL_RESULT', 'TOOL_CALL_RESULT', 'RUN_FINISHED'],
        );
        expect(ada.last).toMatchObject({ outcome: { type: end === 'delete' ? 'success' : 'cancelled' } });
        const next = ada.say('hello').run();
        (await rig.model.call(1)).answer('Hi.');
        await next;
        expect(ada.agent.messages.at(-1)).toMatchObject({ content: 'Hi.' });
        expect(rig.tools.calls).toEqual([]);
      },
    );

  verifies(
    'ag-ui.interrupt',
    'a page lets go of one that was approved elsewhere, and is told what came of it',
    async () => {
      await using rig = await startAgUi();
      const ada = await asked(rig);
      await rig.service.post('/api/sessions/thread-1/approvals/c1', { decision: 'approve' });
      const payment = await rig.tools.call(0);
      const going = ada.run({ resume: answersTo(ada, { c1: cancel, c2: cancel }) });
      expect(await ada.event('CUSTOM')).toMatchObject({
        value: expect.stringMatching(/~c1 was left out: the call was approved before\.$/),
      });
      payment.answer('paid');
      (await rig.model.call(1)).answer('Ann is paid, Bob is not.');
      await going;
      expect(ada.types.filter((type) => type === 'CUSTOM')).toHaveLength(1);
      const results = ada.agent.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      expect(results.toSorted()).toEqual(['The tool failed: it was denied', 'paid']);
    },
  );

  verifies('ag-ui.interrupt', 'a page lets go of interrupts whose turn has failed, and goes on', async () => {
    await using rig = await startAgUi();
    const ada = await asked(rig);
    const going = ada.run({ resume: answersTo(ada, { c1: approve, c2: deny }) });
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).fail(new Error('the provider is gone'));
    await going;
    expect(ada.last).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_ERROR' });
    // A run that ends with an error leaves its interrupts to the client. The same answers tell the same error again.
    await ada.run({ resume: answersTo(ada, { c1: approve, c2: deny }) });
    expect(ada.last).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_ERROR' });
    await ada.run({ resume: answersTo(ada, { c1: cancel, c2: cancel }) });
    expect(ada.types).toEqual(['RUN_STARTED', 'CUSTOM', 'CUSTOM', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(ada.events.filter(({ type }) => type === 'CUSTOM')).toMatchObject([
      { value: expect.stringMatching(/~c1 was left out: the call was approved before\.$/) },
      {
        value: expect.stringMatching(/^The turn of the interrupts has failed: The agent could not answer\./),
      },
    ]);
    const results = ada.agent.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results.toSorted()).toEqual(['The tool failed: it was denied: too much', 'paid']);
    const next = ada.say('hello').run();
    (await rig.model.call(2)).answer('Hi.');
    await next;
    expect(ada.agent.messages.at(-1)).toMatchObject({ content: 'Hi.' });
    expect(rig.tools.calls).toHaveLength(1);
  });
});
