import { describe, expect, it } from 'vitest';
import { reportTask } from '../../../../src/gateway/a2a/pushed-task.ts';
import { withoutFiles } from '../../../../src/gateway/a2a/without-files.ts';

const image = { base64: Buffer.alloc(3_000_000).toString('base64'), mimeType: 'image/png' as const };
const described = { text: '[image/png, 3000000 bytes]', mediaType: 'text/plain' };
const text = { text: 'What is this?', mediaType: 'text/plain' };

describe('a task without its files', () => {
  it('says which files there are, and keeps everything else', () => {
    const status = { state: 'TASK_STATE_WORKING', timestamp: '' } as const;
    const message = { messageId: 'm', role: 'ROLE_USER' } as const;
    const task = { id: 't', contextId: 'c', status };
    const history = [{ ...message, parts: [text, { raw: image.base64, mediaType: 'image/png' }] }];
    expect(withoutFiles({ ...task, history })).toEqual({
      ...task,
      history: [{ ...message, parts: [text, described] }],
    });
    expect(withoutFiles(task)).toEqual(task);
  });

  it('is what a receiver of push notifications gets', () => {
    const report = reportTask({
      agentId: 'default',
      sessionId: 'trip',
      turnId: 't1',
      afterSeq: 0,
      head: 1,
    });
    const event = { type: 'turn.requested' as const, turnId: 't1', text: text.text, image };
    expect(report.take({ sessionId: 'trip', seq: 1, time: 0, event, meta: null })).toMatchObject([
      { task: { history: [{ parts: [text, described] }] } },
    ]);
  });
});
