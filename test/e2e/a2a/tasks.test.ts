import { type ListTasksRequest, Role, type Task, TaskState } from '@a2a-js/sdk';
import { describe, expect } from 'vitest';
import {
  BINDINGS,
  listed,
  message,
  ReadReply,
  replyOf,
  type Said,
  taskFor,
} from '../../support/a2a/a2a-client.ts';
import { A2aRig } from '../../support/a2a/a2a-rig.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const stateOf = ({ status }: Pick<Task, 'status'>): string => TaskState[status?.state ?? 0] ?? '';

describe.each(BINDINGS)('tasks over %s', (binding) => {
  verifies('a2a.send', binding, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const asking = taskFor(client, message('hello', { messageId: 'm-1' }));
    (await rig.model.call(0)).answer('Hello ', 'Ann.');
    const task = await asking;
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
    expect(replyOf(task)).toBe('Hello Ann.');
    expect(task.history).toMatchObject([
      { messageId: 'm-1', role: Role.ROLE_USER, contextId: task.contextId, taskId: task.id },
    ]);
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
    const { history } = await client.getTask({ tenant: '', id: task.id, historyLength: 0 });
    expect(history).toEqual([]);

    const next = taskFor(client, message('And now?', { contextId: task.contextId }));
    const call = await rig.model.call(1);
    expect(call.request.messages).toMatchObject([{ text: 'hello' }, {}, { text: 'And now?' }]);
    call.answer('The same.');
    expect(await next).toMatchObject({ contextId: task.contextId });
    expect((await next).id).not.toBe(task.id);
  });

  verifies('a2a.send', `at once, ${binding}`, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const begun = await taskFor(client, message('hello', { configuration: { returnImmediately: true } }));
    expect(stateOf(begun)).toBe('TASK_STATE_WORKING');
    expect(begun.artifacts).toEqual([]);
    (await rig.model.call(0)).say('Hel');
    await expect.poll(async () => replyOf(await client.getTask({ tenant: '', id: begun.id }))).toBe('Hel');
    (await rig.model.call(0)).answer('lo');
    await expect
      .poll(async () => stateOf(await client.getTask({ tenant: '', id: begun.id })))
      .toBe('TASK_STATE_COMPLETED');
  });

  verifies('a2a.send', `an image and data, ${binding}`, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const asking = taskFor(
      client,
      message([
        { content: { $case: 'text', value: 'What is this?' } },
        { content: { $case: 'data', value: { page: 5 } } },
        { content: { $case: 'raw', value: Buffer.from(PIXEL, 'base64') }, mediaType: 'image/png' },
      ]),
    );
    const call = await rig.model.call(0);
    expect(call.request.messages).toMatchObject([
      { text: 'What is this?\n\n{"page":5}', images: [{ base64: PIXEL, mimeType: 'image/png' }] },
    ]);
    call.answer('A picture.');
    const { history } = await asking;
    expect(history[0]?.parts.map(({ content }) => content?.$case)).toEqual(['text', 'data', 'raw']);
  });

  verifies('a2a.stream', `a large image, ${binding}`, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const picture = [
      { content: { $case: 'raw' as const, value: Buffer.alloc(4_000_000) }, mediaType: 'image/png' },
    ];
    const firstTask = async (configuration: Said['configuration'] = {}): Promise<Task> => {
      for await (const { payload } of client.sendMessageStream(message(picture, { configuration })))
        if (payload?.$case === 'task') return payload.value;
      throw new Error('the stream has no task');
    };
    const shown = await firstTask();
    expect(shown.history[0]?.parts.map(({ content }) => content?.value)).toEqual([
      '[image/png, 4000000 bytes]',
    ]);
    const { history } = await client.getTask({ tenant: '', id: shown.id });
    expect(history[0]?.parts.map(({ content }) => content?.$case)).toEqual(['raw']);
    expect((await firstTask({ historyLength: 0 })).history).toEqual([]);
  });

  verifies('a2a.send', `an agent that fails, ${binding}`, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const failing = taskFor(client, message('fail'));
    (await rig.model.call(0)).fail(new Error('the provider is gone'));
    const failed = await failing;
    expect(stateOf(failed)).toBe('TASK_STATE_FAILED');
    expect(failed.status?.message?.parts[1]?.content).toMatchObject({
      value: { error: { code: 'AGENT_ERROR' } },
    });
    expect(JSON.stringify(failed)).not.toContain('the provider is gone');
  });

  verifies('a2a.repeated', binding, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const said = { contextId: 'trip', messageId: 'm-1' };
    const [first, again] = [taskFor(client, message('hello', said)), taskFor(client, message('hello', said))];
    (await rig.model.call(0)).answer('Hello.');
    expect(await again).toEqual(await first);
    expect(await taskFor(client, message('hello', said))).toEqual(await first);
    await expect(taskFor(client, message('bye', said))).rejects.toThrow('idempotency key');
    expect(rig.model.calls).toHaveLength(1);
  });

  verifies('a2a.stream', binding, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const reply = new ReadReply();
    const states: string[] = [];
    for await (const event of client.sendMessageStream(message('hello'))) {
      const { payload } = event;
      if (states.length === 0) (await rig.model.call(0)).answer('Hello ', 'Ann.');
      reply.take(event);
      if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') continue;
      states.push(stateOf(payload.value));
    }
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    expect(reply).toMatchObject({ text: 'Hello Ann.', isComplete: true });
  });

  verifies('a2a.subscribe', binding, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const text = Array.from({ length: 50 }, (_, index) => `word ${index} `);
    const first = new ReadReply();
    let id = '';
    // The client leaves in the middle.
    for await (const event of client.sendMessageStream(message('hello'))) {
      if (event.payload?.$case === 'task') id = event.payload.value.id;
      if (event.payload?.$case === 'task') (await rig.model.call(0)).say(...text.slice(0, 20));
      first.take(event);
      if (first.text.includes('word 5')) break;
    }
    const second = new ReadReply();
    let seen = 0;
    for await (const event of client.resubscribeTask({ tenant: '', id })) {
      second.take(event);
      seen += 1;
      if (seen === 1) expect(event.payload?.$case).toBe('task');
      if (seen === 1) (await rig.model.call(0)).answer(...text.slice(20));
    }
    expect(second).toMatchObject({ text: text.join(''), isComplete: true });
    await expect(client.resubscribeTask({ tenant: '', id }).next()).rejects.toThrow('ended');
  });

  verifies('a2a.restart', binding, async () => {
    await using folder = await tempDirectory();
    const task = await (async () => {
      await using rig = await A2aRig.start({ dataDir: folder.path });
      const client = await rig.client(binding);
      const begun = taskFor(client, message('hello', { configuration: { returnImmediately: true } }));
      (await rig.model.call(0)).say('I was cut o');
      return await begun;
    })();
    const ended = await (async () => {
      await using rig = await A2aRig.start({ dataDir: folder.path });
      const client = await rig.client(binding);
      const reply = new ReadReply();
      let last: string | undefined;
      for await (const event of client.resubscribeTask({ tenant: '', id: task.id })) {
        if (last === undefined) (await rig.model.call(0)).answer('Hello again.');
        last = event.payload?.$case;
        reply.take(event);
      }
      expect(reply).toMatchObject({ text: 'Hello again.', isComplete: true });
      return await client.getTask({ tenant: '', id: task.id });
    })();
    await using rig = await A2aRig.start({ dataDir: folder.path });
    const client = await rig.client(binding);
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(ended);
    expect(stateOf(ended)).toBe('TASK_STATE_COMPLETED');
  });

  verifies('a2a.cancel', binding, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const asking = taskFor(client, message('hello', { contextId: 'trip' }));
    const call = await rig.model.call(0);
    const { tasks } = await client.listTasks(listed({ contextId: 'trip' }));
    const id = tasks[0]?.id ?? '';
    const canceled = await client.cancelTask({ tenant: '', id, metadata: {} });
    expect(stateOf(canceled)).toBe('TASK_STATE_CANCELED');
    await call.aborted;
    expect(stateOf(await asking)).toBe('TASK_STATE_CANCELED');
    expect(await client.cancelTask({ tenant: '', id, metadata: {} })).toEqual(canceled);

    const answering = taskFor(client, message('hello', { contextId: 'trip' }));
    (await rig.model.call(1)).answer('Hello.');
    const { id: over } = await answering;
    await expect(client.cancelTask({ tenant: '', id: over, metadata: {} })).rejects.toMatchObject({
      reason: 'TASK_NOT_CANCELABLE',
    });
  });

  verifies('a2a.list', binding, async () => {
    await using rig = await A2aRig.start();
    const client = await rig.client(binding);
    const ids: string[] = [];
    for (const [index, contextId] of ['a', 'b', 'a'].entries()) {
      const asking = taskFor(client, message(`hello ${index}`, { contextId }));
      (await rig.model.call(index)).answer('Hello.');
      ids.unshift((await asking).id);
    }
    const running = taskFor(client, message('wait', { contextId: 'c' }));
    await rig.model.call(3);
    const all = await client.listTasks(listed({ includeArtifacts: true, historyLength: 0 }));
    expect(all).toMatchObject({ totalSize: 4, pageSize: 50, nextPageToken: '' });
    expect(all.tasks.map(({ id }) => id).slice(1)).toEqual(ids);
    expect(all.tasks[1]).toMatchObject({ artifacts: [{}], history: [] });
    const done = await client.listTasks(listed({ status: TaskState.TASK_STATE_COMPLETED, pageSize: 2 }));
    expect(done).toMatchObject({ totalSize: 3, pageSize: 2 });
    expect(done.tasks[0]?.artifacts).toEqual([]);
    const { nextPageToken: pageToken } = done;
    const rest = await client.listTasks(
      listed({ status: TaskState.TASK_STATE_COMPLETED, pageSize: 2, pageToken }),
    );
    expect([...done.tasks, ...rest.tasks].map(({ id }) => id)).toEqual(ids);
    expect(rest.nextPageToken).toBe('');
    expect(await client.listTasks(listed({ contextId: 'a' }))).toMatchObject({ totalSize: 2 });
    const inJavaScript: unknown = { contextId: 'a' };
    expect(await client.listTasks(inJavaScript as ListTasksRequest)).toMatchObject({ totalSize: 2 });
    const later = listed({ statusTimestampAfter: new Date(Date.now() + 60_000).toISOString() });
    expect(await client.listTasks(later)).toMatchObject({ totalSize: 0, tasks: [] });
    await expect(client.listTasks(listed({ pageToken: 'nonsense' }))).rejects.toThrow('page token');
    (await rig.model.call(3)).answer('Done.');
    await running;
  });
});
