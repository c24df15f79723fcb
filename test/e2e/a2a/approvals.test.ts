import { type Task, TaskState } from '@a2a-js/sdk';
import { describe, expect } from 'vitest';
import { contentHash } from '../../../src/core/content-hash.ts';
import {
  all,
  BINDINGS,
  data,
  dataIn,
  message,
  ReadReply,
  replyOf,
  taskFor,
} from '../../support/a2a/a2a-client.ts';
import { A2aRig } from '../../support/a2a/a2a-rig.ts';
import { CrossingStore } from '../../support/log/crossing-store.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

const WAITING = TaskState.TASK_STATE_INPUT_REQUIRED;

/** A task whose tool call waits for approval. */
async function waitingTask(rig: A2aRig, client: Awaited<ReturnType<A2aRig['client']>>, ...callIds: string[]) {
  const asking = taskFor(client, message('pay the bill'));
  (await rig.model.call(0)).askFor(
    ...callIds.map((callId) => ({ name: 'pay', callId, arguments: { amount: 5 } })),
  );
  const task = await asking;
  expect(task.status?.state).toBe(WAITING);
  return task;
}

describe.each(BINDINGS)('approvals over %s', (binding) => {
  verifies('a2a.approval', binding, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const { id: taskId, contextId, status } = await waitingTask(rig, client, 'c1');
    const asked = { callId: 'c1', toolName: 'pay', serverId: 'bank', arguments: { amount: 5 } };
    expect(dataIn(status?.message)).toEqual([
      { kind: 'approval', ...asked, argumentsHash: await contentHash({ amount: 5 }) },
    ]);
    const unclear = taskFor(client, message('well, perhaps', { taskId }));
    await expect(unclear).rejects.toThrow('Send one part');
    const elsewhere = taskFor(client, message('approve', { taskId, contextId: 'other' }));
    await expect(elsewhere).rejects.toThrow('another context');

    const answering = taskFor(client, message('approve', { taskId, contextId }));
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).answer('It is paid.');
    const task = await answering;
    expect(task).toMatchObject({ id: taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(replyOf(task)).toBe('It is paid.');
    expect(task.metadata).toEqual({
      toolCalls: [{ callId: 'c1', toolName: 'pay', serverId: 'bank', status: 'succeeded' }],
    });
    expect(task.history.map(({ role }) => role)).toEqual([1, 2, 1]);
    expect(dataIn(task.history[2])).toEqual([{ callId: 'c1', approve: true }]);
    const late = taskFor(client, message('approve', { taskId }));
    await expect(late).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  verifies('a2a.approval', `for the arguments that were shown and for no others, ${binding}`, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const { id: taskId } = await waitingTask(rig, client, 'c1');
    for (const argumentsHash of [await contentHash({ amount: 500 }), 5]) {
      const other = data({ approve: true, callId: 'c1', argumentsHash });
      await expect(taskFor(client, message(other, { taskId }))).rejects.toMatchObject({
        reason: 'INVALID_PARAMS',
      });
    }
    expect(rig.tools.calls).toHaveLength(0);
    const argumentsHash = await contentHash({ amount: 5 });
    const answering = taskFor(client, message(data({ approve: true, argumentsHash }), { taskId }));
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).answer('It is paid.');
    expect(replyOf(await answering)).toBe('It is paid.');
  });

  verifies('a2a.approval', `several calls, ${binding}`, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const { id: taskId, status } = await waitingTask(rig, client, 'c1', 'c2');
    expect(dataIn(status?.message)).toMatchObject([{ callId: 'c1' }, { callId: 'c2' }]);
    await expect(taskFor(client, message('deny', { taskId }))).rejects.toThrow('several approvals');
    const noSuch = taskFor(client, message(data({ approve: true, callId: 'c9' }), { taskId }));
    await expect(noSuch).rejects.toThrow('No call c9');
    const denial = data({ approve: false, callId: 'c1', reason: 'too much' });
    const still = await taskFor(client, message(denial, { taskId }));
    expect(still.status?.state).toBe(WAITING);
    expect(dataIn(still.status?.message)).toMatchObject([{ callId: 'c2' }]);
    const last = taskFor(client, message('approve', { taskId }));
    (await rig.tools.call(0)).answer('paid');
    const call = await rig.model.call(1);
    expect(JSON.stringify(call.request.messages)).toContain('too much');
    call.answer('One is paid.');
    expect((await last).metadata).toMatchObject({
      toolCalls: [
        { callId: 'c1', status: 'failed' },
        { callId: 'c2', status: 'succeeded' },
      ],
    });
  });

  verifies('a2a.approval', `a stream tells of all calls that wait before it ends, ${binding}`, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const telling = all(client.sendMessageStream(message('pay the bills')));
    const pay = (callId: string) => ({ name: 'pay', callId, arguments: { amount: 5 } });
    (await rig.model.call(0)).askFor(pay('c1'), pay('c2'));
    const payload = (await telling).at(-1)?.payload;
    if (payload?.$case !== 'statusUpdate') throw new Error('the last event is another one');
    const { status } = payload.value;
    expect(status?.state).toBe(WAITING);
    expect(dataIn(status?.message)).toMatchObject([{ callId: 'c1' }, { callId: 'c2' }]);
  });

  verifies('a2a.approval', `sent again, ${binding}`, async () => {
    const store = new CrossingStore();
    await using rig = await A2aRig.start({ adapters: { store } });
    const client = await rig.client(binding);
    const { id: taskId } = await waitingTask(rig, client, 'c1');
    const approval = message('approve', { taskId, messageId: 'm1' });
    const both = [taskFor(client, approval)];
    await store.held;
    both.push(taskFor(client, approval));
    (await rig.tools.call(0)).answer('paid');
    (await rig.model.call(1)).answer('It is paid.');
    const [one, two] = await Promise.all(both);
    expect(one?.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(two).toEqual(one);
    expect(await taskFor(client, approval)).toEqual(one);
    expect(rig.tools.calls).toHaveLength(1);
    const denial = taskFor(client, message('deny', { taskId, messageId: 'm1' }));
    await expect(denial).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  verifies('a2a.approval', `over a restart, ${binding}`, async () => {
    await using folder = await tempDirectory();
    const { id } = await (async (): Promise<Task> => {
      await using rig = await A2aRig.start({ dataDir: folder.path });
      return await waitingTask(rig, await rig.client(binding), 'c1');
    })();
    await using rig = await A2aRig.start({ dataDir: folder.path });
    const client = await rig.client(binding);
    const states: (TaskState | undefined)[] = [];
    const toolStates: unknown[] = [];
    const reply = new ReadReply();
    // Somebody watches the task while its client answers.
    for await (const event of client.resubscribeTask({ tenant: '', id })) {
      const { payload } = event;
      reply.take(event);
      if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') continue;
      states.push(payload.value.status?.state);
      if (payload.$case === 'statusUpdate' && payload.value.metadata)
        toolStates.push(payload.value.metadata.toolCall.status);
      if (payload.$case !== 'task') continue;
      const stream = client.sendMessageStream(message('approve', { taskId: id }));
      expect((await stream.next()).value?.payload?.value).toMatchObject({ id });
      (await rig.tools.call(0)).answer('paid');
      (await rig.model.call(0)).answer('It is paid.');
    }
    expect([states[0], states.at(-1)]).toEqual([WAITING, TaskState.TASK_STATE_COMPLETED]);
    expect(states).toContain(TaskState.TASK_STATE_WORKING);
    expect(toolStates).toEqual(['succeeded']);
    expect(reply).toMatchObject({ text: 'It is paid.', isComplete: true });
  });
});
