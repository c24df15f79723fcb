import { expect, it } from 'vitest';
import { ListTasksRequest, SendMessageRequest } from '../../../../src/gateway/a2a/a2a-requests.ts';

const url = 'https://receiver.example/';

it('takes an empty text for an absent one, as the JSON of proto3 has it', () => {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const { message: sent, configuration } = SendMessageRequest.parse({
    message: { ...message, contextId: '', taskId: '' },
    configuration: {
      taskPushNotificationConfig: {
        id: '',
        taskId: '',
        url,
        token: '',
        authentication: { scheme: 'Bearer', credentials: '' },
      },
    },
  });
  expect(sent).toEqual(message);
  expect(configuration?.taskPushNotificationConfig).toEqual({ url, authentication: { scheme: 'Bearer' } });
  expect(
    ListTasksRequest.parse({ contextId: '', status: '', pageToken: '', statusTimestampAfter: '' }),
  ).toEqual({});
});
