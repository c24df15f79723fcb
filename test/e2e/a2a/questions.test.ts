import { TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { describe, expect } from 'vitest';
import type { ServerQuestion } from '../../../src/core/tool-server/server-question.ts';
import {
  all,
  BINDINGS,
  data,
  dataIn,
  listed,
  message,
  replyOf,
  taskFor,
} from '../../support/a2a/a2a-client.ts';
import { A2A_AGENT, A2aRig } from '../../support/a2a/a2a-rig.ts';
import { PushReceiver, saidIn } from '../../support/a2a/push-receiver.ts';
import { identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { CrossingStore } from '../../support/log/crossing-store.ts';
import type { ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { TEA } from '../../support/tools/asking-tools.ts';
import type { DirectedToolCall } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const { TASK_STATE_WORKING, TASK_STATE_INPUT_REQUIRED, TASK_STATE_COMPLETED } = TaskState;

/** Its tool needs no approval, and may ask the model. Receivers of tests have private addresses. */
const AGENT = {
  ...A2A_AGENT,
  mcpServers: { bank: { ...A2A_AGENT.mcpServers.bank, sampling: { policy: 'ask' } } },
  approval: { default: 'auto' },
  a2a: { push: { allowPrivateAddresses: true } },
};

const askingRig = (options: ServiceOptions = {}, agent: object = AGENT) =>
  A2aRig.start({ yaml: JSON.stringify(agent), ...options });

const FORM: ServerQuestion = { method: 'elicitation/create', params: TEA };
const ADDRESS: ServerQuestion = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Please sign in.', url: 'https://bank.example.com/sign-in' },
};
const SAMPLING: ServerQuestion = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Which tea?' } }], maxTokens: 20 },
};

/** A task whose tool has been called. */
async function callingTask(rig: A2aRig, client: Client): Promise<{ id: string; call: DirectedToolCall }> {
  const configuration = { returnImmediately: true };
  const { id } = await taskFor(client, message('order tea', { configuration }));
  (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' });
  return { id, call: await rig.tools.call(0) };
}

/** A task whose tool server asks these questions. */
async function askedTask(rig: A2aRig, client: Client, ...questions: ServerQuestion[]) {
  const { id, call } = await callingTask(rig, client);
  const answers = questions.map((question) => call.ask(question));
  await expect
    .poll(async () => dataIn((await taskWith(client, id)).status?.message).length)
    .toBe(questions.length);
  return { id, call, answers };
}

const taskWith = (client: Client, id: string) => client.getTask({ tenant: '', id });

/** Ends the call and the task. */
async function finish(rig: A2aRig, call: DirectedToolCall): Promise<void> {
  call.answer('tea');
  (await rig.model.call(1)).answer('Here is your tea.');
}

describe.each(BINDINGS)('questions of tool servers over %s', (binding) => {
  verifies('a2a.questions', binding, async () => {
    await using rig = await askingRig();
    const client = await rig.client(binding);
    const asking = taskFor(client, message('order tea'));
    (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' });
    const call = await rig.tools.call(0);
    const answered = call.ask(FORM);
    const { id: taskId, contextId, status } = await asking;
    expect(status?.state).toBe(TASK_STATE_INPUT_REQUIRED);
    expect(dataIn(status?.message)).toEqual([
      {
        kind: 'input',
        inputId: 'c1.1.1',
        callId: 'c1',
        toolName: 'pay',
        serverId: 'bank',
        message: TEA.message,
        question: { mode: 'form', schema: TEA.requestedSchema },
        expiresAt: expect.any(String),
      },
    ]);
    expect(JSON.stringify(status?.message?.parts[0])).toContain('asks: Which tea? Answer accept');
    const waiting = listed({ contextId, status: TASK_STATE_INPUT_REQUIRED });
    expect((await client.listTasks(waiting)).tasks).toMatchObject([{ id: taskId }]);

    for (const unclear of ['accept', 'well, perhaps', data({ approve: true })])
      await expect(taskFor(client, message(unclear, { taskId }))).rejects.toThrow('Send one part');
    const wrong = taskFor(client, message(data({ action: 'accept', content: { size: 'huge' } }), { taskId }));
    await expect(wrong).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining('content.size'),
    });
    for (const [invalid, field] of [
      [{ action: 'perhaps' }, 'action'],
      [{ action: 'accept', content: 'large' }, 'content'],
      [{ action: 'accept', input_id: 'c1.1.1' }, 'inputId'],
    ] as const)
      await expect(taskFor(client, message(data(invalid), { taskId }))).rejects.toThrow(field);
    expect((await taskWith(client, taskId)).status?.state).toBe(TASK_STATE_INPUT_REQUIRED);

    const accepting = taskFor(
      client,
      message(data({ action: 'accept', content: { size: 'large' } }), { taskId }),
    );
    const content = { size: 'large', hot: true };
    expect(await answered).toEqual({ action: 'accept', content });
    await finish(rig, call);
    const task = await accepting;
    expect(task).toMatchObject({ id: taskId, status: { state: TASK_STATE_COMPLETED } });
    expect(replyOf(task)).toBe('Here is your tea.');
    expect(task.history.map(({ role }) => role)).toEqual([1, 2, 1]);
    expect(dataIn(task.history[2])).toEqual([{ inputId: 'c1.1.1', action: 'accept', content }]);
    const late = taskFor(client, message('decline', { taskId }));
    await expect(late).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  verifies('a2a.questions', `in a word, ${binding}`, async () => {
    for (const [question, word, outcome] of [
      [FORM, 'Decline', { action: 'decline' }],
      [FORM, 'cancel', { action: 'cancel' }],
      [ADDRESS, 'accept', { action: 'accept' }],
      [SAMPLING, 'decline', { message: expect.stringContaining('declined') }],
    ] as const) {
      await using rig = await askingRig();
      const client = await rig.client(binding);
      const { id: taskId, call, answers } = await askedTask(rig, client, question);
      const answering = taskFor(client, message(word, { taskId }));
      expect(await answers[0]?.catch((error: unknown) => error)).toMatchObject(outcome);
      await finish(rig, call);
      expect((await answering).status?.state).toBe(TASK_STATE_COMPLETED);
    }
  });

  verifies('a2a.questions', `several of them, ${binding}`, async () => {
    await using rig = await askingRig();
    const client = await rig.client(binding);
    const { id: taskId, call, answers } = await askedTask(rig, client, FORM, ADDRESS);
    for (const [unclear, issue] of [
      ['decline', 'Send one part'],
      [data({ action: 'decline' }), 'answers to several questions'],
      [data({ action: 'decline', inputId: 'c9' }), 'No question c9'],
      [[...data({ action: 'decline' }), ...data({ action: 'cancel' })], 'Send one part'],
    ] as const)
      await expect(taskFor(client, message(unclear, { taskId }))).rejects.toThrow(issue);
    const one = await taskFor(client, message(data({ action: 'accept', inputId: 'c1.1.2' }), { taskId }));
    expect(await answers[1]).toEqual({ action: 'accept' });
    expect(one.status?.state).toBe(TASK_STATE_INPUT_REQUIRED);
    expect(dataIn(one.status?.message)).toMatchObject([{ inputId: 'c1.1.1' }]);
    const other = taskFor(client, message('decline', { taskId }));
    expect(await answers[0]).toEqual({ action: 'decline' });
    await finish(rig, call);
    expect((await other).status?.state).toBe(TASK_STATE_COMPLETED);
  });

  verifies('a2a.questions', `beside approvals, ${binding}`, async () => {
    await using rig = await askingRig({}, { ...AGENT, approval: { default: 'ask' } });
    const client = await rig.client(binding);
    const asking = taskFor(client, message('order tea and pay'));
    (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' }, { name: 'pay', callId: 'c2' });
    const { id: taskId } = await asking;
    await taskFor(client, message(data({ approve: true, callId: 'c1' }), { taskId }));
    const call = await rig.tools.call(0);
    const answer = call.ask(FORM);
    const kinds = async () =>
      dataIn((await taskWith(client, taskId)).status?.message).map((part) => Object(part).kind);
    await expect.poll(kinds).toEqual(['approval', 'input']);

    // Somebody may mean the approval by it.
    await expect(taskFor(client, message('decline', { taskId }))).rejects.toThrow('Send one part');
    const declined = await taskFor(client, message(data({ action: 'decline' }), { taskId }));
    expect(await answer).toEqual({ action: 'decline' });
    expect(dataIn(declined.status?.message)).toMatchObject([{ kind: 'approval', callId: 'c2' }]);

    const again = call.ask(ADDRESS);
    await expect.poll(kinds).toEqual(['approval', 'input']);
    const denied = await taskFor(client, message('deny', { taskId }));
    expect(denied.status?.state).toBe(TASK_STATE_INPUT_REQUIRED);
    expect(dataIn(denied.status?.message)).toMatchObject([{ kind: 'input', inputId: 'c1.1.2' }]);
    const accepting = taskFor(client, message('accept', { taskId }));
    expect(await again).toEqual({ action: 'accept' });
    await finish(rig, call);
    expect((await accepting).history.flatMap((said) => (said.role === 1 ? dataIn(said) : []))).toEqual([
      { callId: 'c1', approve: true },
      { inputId: 'c1.1.1', action: 'decline' },
      { callId: 'c2', approve: false },
      { inputId: 'c1.1.2', action: 'accept' },
    ]);
  });

  verifies('a2a.questions', `sent again, ${binding}`, async () => {
    const store = new CrossingStore();
    await using rig = await askingRig({ adapters: { store } });
    const client = await rig.client(binding);
    const { id: taskId, call, answers } = await askedTask(rig, client, FORM);
    const said = { taskId, messageId: 'm1' };
    const accepting = message(data({ action: 'accept', content: { size: 'small' } }), said);
    const both = [taskFor(client, accepting)];
    await store.held;
    both.push(taskFor(client, accepting));
    expect(await answers[0]).toMatchObject({ action: 'accept' });
    await finish(rig, call);
    const [one, two] = await Promise.all(both);
    expect(one?.status?.state).toBe(TASK_STATE_COMPLETED);
    expect(two).toEqual(one);
    expect(await taskFor(client, accepting)).toEqual(one);
    for (const other of ['decline', data({ action: 'accept', inputId: 'c1.1.2' })])
      await expect(taskFor(client, message(other, said))).rejects.toMatchObject({
        reason: 'UNSUPPORTED_OPERATION',
      });
  });

  verifies('a2a.questions', `withdrawn and expired, ${binding}`, async () => {
    await using rig = await askingRig({}, { ...AGENT, elicitation: { expiresAfterMs: 1000 } });
    const client = await rig.client(binding);
    const { id, call } = await callingTask(rig, client);
    const states: (TaskState | undefined)[] = [];
    for await (const { payload } of client.resubscribeTask({ tenant: '', id })) {
      if (payload?.$case === 'task') {
        const withdrawal = new AbortController();
        const withdrawn = call.ask(FORM, withdrawal.signal);
        withdrawal.abort();
        expect(await withdrawn).toEqual({ action: 'cancel' });
        expect(await call.ask(FORM)).toEqual({ action: 'cancel' });
        await finish(rig, call);
      } else if (payload?.$case === 'statusUpdate' && !payload.value.metadata)
        states.push(payload.value.status?.state);
    }
    expect(states).toEqual([
      ...[TASK_STATE_INPUT_REQUIRED, TASK_STATE_WORKING, TASK_STATE_INPUT_REQUIRED, TASK_STATE_WORKING],
      TASK_STATE_COMPLETED,
    ]);
    const { history } = await taskWith(client, id);
    // Nobody has answered.
    expect(history.map(({ role }) => role)).toEqual([1, 2, 2]);
  });

  verifies('a2a.questions', `of a task that is cancelled, ${binding}`, async () => {
    await using rig = await askingRig();
    const client = await rig.client(binding);
    const { id, answers } = await askedTask(rig, client, FORM);
    const watching = client.resubscribeTask({ tenant: '', id });
    await watching.next();
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: {} });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(await answers[0]).toEqual({ action: 'cancel' });
    expect((await all(watching)).at(-1)?.payload?.value).toMatchObject({
      status: { state: TaskState.TASK_STATE_CANCELED },
    });
  });

  verifies('a2a.questions', `over a restart, ${binding}`, async () => {
    await using folder = await tempDirectory();
    const taskId = await (async (): Promise<string> => {
      await using rig = await askingRig({ dataDir: folder.path });
      return (await askedTask(rig, await rig.client(binding), FORM)).id;
    })();
    await using rig = await askingRig({ dataDir: folder.path });
    const client = await rig.client(binding);
    const call = await rig.model.call(0);
    expect((await taskWith(client, taskId)).status?.state).toBe(TASK_STATE_WORKING);
    const late = taskFor(client, message(data({ action: 'decline' }), { taskId }));
    await expect(late).rejects.toThrow('at work');
    call.answer('There is no tea.');
    await expect.poll(async () => replyOf(await taskWith(client, taskId))).toBe('There is no tea.');
  });

  verifies('a2a.questions', `in push notifications, ${binding}`, async () => {
    await using receiver = await PushReceiver.start();
    await using rig = await askingRig();
    const client = await rig.client(binding);
    const { id: taskId, call } = await askedTask(rig, client, ADDRESS);
    await client.createTaskPushNotificationConfig({
      tenant: '',
      id: '',
      taskId,
      url: receiver.url,
      token: '',
      authentication: undefined,
    });
    await receiver.until(({ told }) => saidIn(told) === 'TASK_STATE_INPUT_REQUIRED');
    const answering = taskFor(client, message('accept', { taskId }));
    await receiver.until(({ told }) => saidIn(told) === 'TASK_STATE_WORKING');
    const asked = call.ask(FORM);
    const { told } = await receiver.until(
      (one) => 'statusUpdate' in one.told && saidIn(one.told) === 'TASK_STATE_INPUT_REQUIRED',
    );
    expect(told).toMatchObject({
      statusUpdate: {
        status: { message: { parts: [{}, { data: { kind: 'input', inputId: 'c1.1.2' } }] } },
      },
    });
    await answering;
    await taskFor(client, message('cancel', { taskId, configuration: { returnImmediately: true } }));
    expect(await asked).toEqual({ action: 'cancel' });
    await finish(rig, call);
    await receiver.end();
  });

  verifies('a2a.questions', `answered by who may write, ${binding}`, async () => {
    const scopes = (...names: ('sessions:read' | 'sessions:write')[]) =>
      identity('ann', { scopes: new Set(names) });
    const verifiers = [
      new KnownTokens({
        writer: scopes('sessions:read', 'sessions:write'),
        reader: scopes('sessions:read'),
      }),
    ];
    await using rig = await askingRig({ verifiers });
    const writer = await rig.client(binding, { token: 'test-writer' });
    const { id: taskId, call, answers } = await askedTask(rig, writer, ADDRESS);
    const reader = await rig.client(binding, { token: 'test-reader' });
    expect((await taskWith(reader, taskId)).status?.state).toBe(TASK_STATE_INPUT_REQUIRED);
    await expect(taskFor(reader, message('accept', { taskId }))).rejects.toThrow('sessions:write');
    const accepting = taskFor(writer, message('accept', { taskId }));
    expect(await answers[0]).toEqual({ action: 'accept' });
    await finish(rig, call);
    expect((await accepting).status?.state).toBe(TASK_STATE_COMPLETED);
  });
});
