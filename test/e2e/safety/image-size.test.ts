import { describe, expect } from 'vitest';
import { MessageSyncResponse } from '../../../src/wire/responses.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { mcpClient, textOf } from '../../support/tools/mcp-client.ts';
import { verifies } from '../requirements.ts';

const MEGABYTE = 1024 * 1024;
const yaml = `${SCRIPTED.replace('}', ', script: [{ when: look, reply: A nice picture. }] }')}`;
const imageOf = (bytes: number) => ({
  base64: Buffer.alloc(bytes, 7).toString('base64'),
  mimeType: 'image/png',
});

/** Sends a message, with an image of so many bytes, and gives the reply or the refusal. */
type Send = (service: RunningService, message: string, imageBytes?: number) => Promise<string>;

const ways: Readonly<Record<string, Send>> = {
  async REST(service, message, imageBytes) {
    const imageData = imageBytes === undefined ? undefined : imageOf(imageBytes);
    const response = await service.post('/api/message-sync', { message, imageData });
    if (response.status === 200) return MessageSyncResponse.parse(await response.json()).response;
    const { code, details, message: text } = await errorOf(response, 429);
    expect({ code, limit: details.limit }).toEqual({ code: 'RATE_LIMIT_EXCEEDED', limit: 10 * MEGABYTE });
    return text;
  },
  async WebSocket(service, message, imageBytes) {
    using client = await service.connect();
    client.say(message, imageBytes === undefined ? {} : { imageData: imageOf(imageBytes) });
    const end = (await client.settled()).at(-1);
    if (end?.event === 'response') return end.data.content;
    return end?.event === 'error' ? end.data.message : 'no end';
  },
  async MCP(service, message, imageBytes) {
    await using client = await mcpClient(service);
    const imageData = imageBytes === undefined ? {} : { imageData: imageOf(imageBytes) };
    try {
      return textOf(await client.call('chat_with_agent', { message, ...imageData }));
    } catch (error) {
      return String(error);
    }
  },
};

describe('10 MB', () => {
  for (const [way, send] of Object.entries(ways)) {
    verifies('limits.image', `over ${way}`, async () => {
      await using service = await RunningService.start({ yaml });
      expect(await send(service, 'look', 9 * MEGABYTE)).toBe('A nice picture.');
      expect(await send(service, 'look', 10 * MEGABYTE)).toBe('A nice picture.');
      expect(await send(service, 'look', 10 * MEGABYTE + 1)).toContain(
        'an image of at most 10 MB (10485760 bytes)',
      );
      expect(await send(service, 'x'.repeat(11 * MEGABYTE))).toContain(
        'a message of at most 10 MB (10485760 bytes)',
      );
      expect(await send(service, 'x'.repeat(11 * MEGABYTE), 1)).toContain('a message of at most 10 MB');
      expect(await send(service, 'x'.repeat(15 * MEGABYTE))).toContain(
        'a message of at most 10 MB (10485760 bytes)',
      );
    });
  }
});
