import { TaskState } from '@a2a-js/sdk';
import { describe, expect } from 'vitest';
import { a2aClient, BINDINGS, message, ReadReply, replyOf, taskFor } from '../../support/a2a/a2a-client.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  name: 'Weather agent',
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});

async function start(options: ServiceOptions = {}) {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model }, ...options });
  return { model, service, [Symbol.asyncDispose]: () => service.close() };
}

describe.each(BINDINGS)('tasks over %s', (binding) => {
  verifies(
    'a2a.send',
    async () => {
      await using rig = await start();
      const client = await a2aClient(rig.service.url, binding);
      const asking = taskFor(client, message('hello'));
      (await rig.model.call(0)).answer('Hello ', 'Ann.');
      const task = await asking;
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(replyOf(task)).toBe('Hello Ann.');
    },
    binding,
  );

  verifies(
    'a2a.stream',
    async () => {
      await using rig = await start();
      const client = await a2aClient(rig.service.url, binding);
      const reply = new ReadReply();
      const states: (TaskState | undefined)[] = [];
      for await (const event of client.sendMessageStream(message('hello'))) {
        const { payload } = event;
        if (states.length === 0) (await rig.model.call(0)).answer('Hello ', 'Ann.');
        reply.take(event);
        if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') continue;
        states.push(payload.value.status?.state);
      }
      expect(states).toEqual([TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]);
      expect(reply).toMatchObject({ text: 'Hello Ann.', isComplete: true });
    },
    binding,
  );
});
