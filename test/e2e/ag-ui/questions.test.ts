import { buildResumeArray } from '@ag-ui/client';
import { describe, expect } from 'vitest';
import type { JsonObject } from '../../../src/core/json-object.ts';
import type { ServerQuestion } from '../../../src/core/tool-server/server-question.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { startAgUi } from '../../support/ag-ui/ag-ui-rig.ts';
import { type RecordedAgent, recordedAgent } from '../../support/ag-ui/recorded-agent.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { TEA } from '../../support/tools/asking-tools.ts';
import type { DirectedToolCall } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

type Rig = Awaited<ReturnType<typeof startAgUi>>;

const look = { name: 'look', callId: 'c1' };
const pay = { name: 'pay', callId: 'p1', arguments: { to: 'Ann' } };
const form: ServerQuestion = { method: 'elicitation/create', params: TEA };
const address: ServerQuestion = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Log in, please.', url: 'https://tea.example/login' },
};
const sample: ServerQuestion = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Name a tea.' } }], maxTokens: 20 },
};
const resolved = (payload: object) => ({ status: 'resolved' as const, payload });
const approve = resolved({ approved: true });
const cancelled = { status: 'cancelled' as const };

interface Asked {
  readonly ada: RecordedAgent;
  readonly call: DirectedToolCall;
  /** What the server gets. */
  readonly answer: Promise<JsonObject>;
}

/** A page whose run has ended because the server of a call asks. */
async function asked(
  { service, model, tools }: Rig,
  question: ServerQuestion,
  { calls = [look], headers = {}, signal }: AskedOptions = {},
): Promise<Asked> {
  const ada = recordedAgent(service, { headers }).say('tea');
  const running = ada.run({ runId: 'r1' });
  (await model.call(0)).askFor(...calls);
  const call = await tools.call(0);
  const answer = call.ask(question, signal);
  answer.catch(() => undefined);
  await running;
  return { ada, call, answer };
}

interface AskedOptions {
  readonly calls?: readonly (typeof look | typeof pay)[];
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Runs again with answers by the ids of the calls. */
function resume(
  { agent }: RecordedAgent,
  byCall: Record<string, typeof cancelled | ReturnType<typeof resolved>>,
) {
  const answers = agent.pendingInterrupts.map(({ id, toolCallId = '' }) => [id, byCall[toolCallId]]);
  return buildResumeArray(agent.pendingInterrupts, Object.fromEntries(answers));
}

/** The error of a run that is refused. */
async function refusal({ service }: Rig, input: object) {
  const answer = await service.post('/ag-ui', {
    threadId: 'thread-1',
    runId: 'refused',
    messages: [],
    ...input,
  });
  return parseEnvelope(await answer.text());
}

describe('questions of tool servers over AG-UI', () => {
  verifies('ag-ui.questions', async () => {
    await using rig = await startAgUi();
    const { ada, call, answer } = await asked(rig, form);
    const [interrupt] = ada.agent.pendingInterrupts;
    expect(interrupt).toEqual({
      id: expect.stringMatching(/^input~[0-9a-f-]{36}~c1\.1\.1$/),
      reason: 'input_required',
      message: 'The tool look asks: Which tea?',
      toolCallId: 'c1',
      responseSchema: TEA.requestedSchema,
      expiresAt: expect.stringMatching(/Z$/),
      metadata: {
        toolName: 'look',
        serverId: 'bank',
        inputId: 'c1.1.1',
        since: expect.stringMatching(/Z$/),
        question: { mode: 'form', schema: TEA.requestedSchema },
      },
    });
    expect(ada.agent.state).toMatchObject({
      session: { status: 'waiting', approvals: [], inputs: [{ inputId: 'c1.1.1', message: 'Which tea?' }] },
    });
    // A page that asks for the run again, and one that opens the thread, get the same interrupt.
    for (const page of [recordedAgent(rig.service).say('tea'), recordedAgent(rig.service)]) {
      await page.run(page.agent.messages.length > 0 ? { runId: 'r1' } : {});
      expect(page.agent.pendingInterrupts).toEqual([interrupt]);
    }
    const answers = resume(ada, { c1: resolved({ size: 'large' }) });
    const going = ada.run({ runId: 'r2', resume: answers });
    expect(await answer).toEqual({ action: 'accept', content: { size: 'large', hot: true } });
    call.answer('a large tea');
    (await rig.model.call(1)).answer('Here it is.');
    await going;
    expect(ada.types.slice(0, 3)).toEqual(['RUN_STARTED', 'TOOL_CALL_RESULT', 'STEP_STARTED']);
    expect(ada.last).toMatchObject({ outcome: { type: 'success' } });
    expect(ada.agent.state).toMatchObject({ session: { status: 'idle', inputs: [] } });
    // The same run, and another one with the same answer, tell the same and do nothing.
    for (const runId of ['r2', 'r3']) {
      const again = recordedAgent(rig.service);
      await again.run({ runId, resume: answers });
      expect(again.types).toEqual(ada.types);
    }
    expect(rig.tools.calls).toHaveLength(1);
    expect(rig.model.calls).toHaveLength(2);
  });

  verifies('ag-ui.questions', 'what does not fit is refused, and nothing is answered', async () => {
    await using rig = await startAgUi();
    const { ada, answer } = await asked(rig, form);
    const [{ id: interruptId } = { id: '' }] = ada.agent.pendingInterrupts;
    const wrong = (payload?: unknown) =>
      refusal(rig, { resume: [{ interruptId, status: 'resolved', payload }] });
    const place = 'resume.0.payload';
    for (const [payload, code, field] of [
      [{ size: 'huge' }, 'INVALID_REQUEST', `${place}.size`],
      [{ size: 'small', sugar: 2 }, 'INVALID_REQUEST', `${place}.sugar`],
      [{ approved: true }, 'INVALID_REQUEST', `${place}.approved`],
      [{}, 'MISSING_FIELD', `${place}.size`],
      ['small', 'INVALID_REQUEST', place],
      [undefined, 'MISSING_FIELD', place],
    ] as const)
      expect(await wrong(payload)).toMatchObject({ code, details: { field } });
    // The id of an approval is none of a question, nor the other way round.
    const [turnId = '', inputId = ''] = interruptId.split('~').slice(1);
    for (const id of ['c1', `${turnId}~c1`, inputId, `input~${turnId}~c1`, `input~other~${inputId}`])
      expect(await refusal(rig, { resume: [{ interruptId: id, ...approve }] })).toMatchObject({
        code: 'APPROVAL_NOT_FOUND',
        details: { field: 'resume', interruptId: id },
      });
    const messages = [{ id: 'u9', role: 'user', content: 'and cake' }];
    expect(await refusal(rig, { messages })).toMatchObject({
      code: 'SESSION_BUSY',
      details: { field: 'resume', interrupts: [interruptId], toolCallIds: [] },
    });
    expect(await refusal(rig, { messages, resume: [{ interruptId, ...cancelled }] })).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'messages.0' },
    });
    // An interrupt that was left alone is no answer, and not even a refusal.
    const going = ada.run({ resume: resume(ada, { c1: cancelled }) });
    expect(await answer).toEqual({ action: 'cancel' });
    rig.tools.calls[0]?.answer('no tea');
    (await rig.model.call(1)).answer('No tea, then.');
    await going;
  });

  verifies(
    'ag-ui.questions',
    'an address to visit, and what a server asks the model, are consented to',
    async () => {
      for (const [question, payload, outcome] of [
        [address, { approved: true }, { action: 'accept' }],
        [address, { approved: false }, { action: 'decline' }],
        [sample, { approved: false }, 'somebody declined the request'],
      ] as const) {
        await using rig = await startAgUi();
        const { ada, call, answer } = await asked(rig, question);
        const [interrupt] = ada.agent.pendingInterrupts;
        expect(interrupt).toMatchObject({
          reason: 'input_required',
          message: expect.stringContaining(question === address ? 'https://tea.example/login' : 'May it?'),
          responseSchema: { properties: { approved: { type: 'boolean' } }, required: ['approved'] },
          metadata: { question: { mode: question === address ? 'url' : 'sampling' } },
        });
        const wrong = [{ interruptId: interrupt?.id, ...resolved({ size: 'large' }) }];
        expect(await refusal(rig, { resume: wrong })).toMatchObject({
          code: 'MISSING_FIELD',
          details: { field: 'resume.0.payload.approved' },
        });
        const going = ada.run({ resume: resume(ada, { c1: resolved(payload) }) });
        if (typeof outcome === 'string') await expect(answer).rejects.toThrow(outcome);
        else expect(await answer).toEqual(outcome);
        call.answer('looked');
        (await rig.model.call(1)).answer('Done.');
        await going;
        expect(ada.last).toMatchObject({ outcome: { type: 'success' } });
      }
    },
  );

  verifies('ag-ui.questions', 'beside a call that waits for approval', async () => {
    await using rig = await startAgUi();
    const { ada, call, answer } = await asked(rig, form, { calls: [look, pay] });
    expect(ada.agent.pendingInterrupts).toMatchObject([
      { reason: 'approval', toolCallId: 'p1' },
      { reason: 'input_required', toolCallId: 'c1' },
    ]);
    const wrong = resume(ada, { p1: approve, c1: resolved({ size: 'huge' }) });
    expect(await refusal(rig, { resume: wrong })).toMatchObject({
      details: { field: 'resume.1.payload.size' },
    });
    // Nothing was approved, because one of the two was wrong.
    expect((await viewOf(rig.service, 'thread-1')).approvals).toHaveLength(1);
    const going = ada.run({ resume: resume(ada, { p1: approve, c1: resolved({ size: 'small' }) }) });
    expect(await answer).toMatchObject({ content: { size: 'small' } });
    const paying = await rig.tools.call(1);
    call.answer('a small tea');
    // What was approved may ask, too. The run ends again, with this question alone.
    const receipt = paying.ask(form);
    await going;
    expect(ada.agent.pendingInterrupts).toMatchObject([{ reason: 'input_required', toolCallId: 'p1' }]);
    const rest = ada.run({ resume: resume(ada, { p1: resolved({ size: 'large', hot: false }) }) });
    expect(await receipt).toEqual({ action: 'accept', content: { size: 'large', hot: false } });
    paying.answer('paid');
    (await rig.model.call(1)).answer('Enjoy.');
    await rest;
    expect(ada.agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
    expect(ada.agent.messages.at(-1)).toMatchObject({ content: 'Enjoy.' });
  });

  verifies('ag-ui.questions', 'one that has ended, or was answered elsewhere', async () => {
    await using rig = await startAgUi();
    const server = new AbortController();
    const { ada, call } = await asked(rig, form, { signal: server.signal });
    const late = resume(ada, { c1: resolved({ size: 'large' }) });
    server.abort();
    await expect.poll(async () => (await viewOf(rig.service, 'thread-1')).inputs).toBeUndefined();
    expect(await refusal(rig, { resume: late })).toMatchObject({
      code: 'INPUT_NOT_FOUND',
      details: { field: 'resume', inputId: 'c1.1.1', reason: 'it ended before without an answer' },
    });
    // A page that lets it go goes on, and is told of the next question.
    const going = ada.run({ resume: resume(ada, { c1: cancelled }) });
    await ada.event('RUN_STARTED');
    const next = call.ask(form);
    await going;
    expect(ada.agent.pendingInterrupts).toMatchObject([{ metadata: { inputId: 'c1.1.2' } }]);
    const path = '/api/sessions/thread-1/inputs/c1.1.2';
    await rig.service.post(path, { action: 'accept', content: { size: 'small' } });
    await next;
    const reason = 'it was answered before, with accept';
    const other = resume(ada, { c1: resolved({ size: 'large' }) });
    expect(await refusal(rig, { resume: other })).toMatchObject({
      code: 'INPUT_NOT_FOUND',
      details: { field: 'resume', inputId: 'c1.1.2', reason },
    });
    // The same answer as the other one is taken for it. A page that lets it go is told of the other one.
    const page = recordedAgent(rig.service);
    page.agent.pendingInterrupts = ada.agent.pendingInterrupts;
    const rest = ada.run({ resume: resume(ada, { c1: resolved({ hot: true, size: 'small' }) }) });
    const dropped = page.run({ resume: resume(page, { c1: cancelled }) });
    expect(await page.event('CUSTOM')).toMatchObject({ value: expect.stringContaining(reason) });
    call.answer('a small tea');
    (await rig.model.call(1)).answer('Here it is.');
    await Promise.all([rest, dropped]);
    for (const { agent } of [ada, page])
      expect(agent.messages.at(-1)).toMatchObject({ content: 'Here it is.' });
  });

  verifies('ag-ui.questions', 'one that a restart has ended', async () => {
    await using folder = await tempDirectory();
    let before: RecordedAgent;
    {
      await using rig = await startAgUi({ dataDir: folder.path });
      before = (await asked(rig, form)).ada;
    }
    await using rig = await startAgUi({ dataDir: folder.path });
    const again = recordedAgent(rig.service).say('tea');
    await again.run({ runId: 'r1' });
    expect(again.agent.pendingInterrupts).toEqual(before.agent.pendingInterrupts);
    const late = resume(again, { c1: resolved({ size: 'large' }) });
    expect(await refusal(rig, { resume: late })).toMatchObject({ code: 'INPUT_NOT_FOUND' });
    const going = again.run({ resume: resume(again, { c1: cancelled }) });
    (await rig.model.call(0)).answer('The call was interrupted.');
    await going;
    expect(again.types).toContain('TOOL_CALL_RESULT');
    expect(again.agent.messages.at(-1)).toMatchObject({ content: 'The call was interrupted.' });
  });

  verifies('ag-ui.questions', 'whoever may talk may answer, without the right to approve', async () => {
    const scopes = new Set(['sessions:read', 'sessions:write'] as const);
    const verifiers = [new KnownTokens({ cleo: identity('cleo', { scopes }) })];
    await using rig = await startAgUi({ verifiers });
    const { ada: cleo, call, answer } = await asked(rig, form, { headers: bearer('cleo') });
    const going = cleo.run({ resume: resume(cleo, { c1: resolved({ size: 'large' }) }) });
    expect(await answer).toMatchObject({ action: 'accept' });
    call.answer('a large tea');
    (await rig.model.call(1)).answer('Here it is.');
    await going;
    expect(cleo.last).toMatchObject({ outcome: { type: 'success' } });
  });
});
