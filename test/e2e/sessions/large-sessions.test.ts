import { describe, expect } from 'vitest';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const MEGABYTE = 1024 * 1024;

describe('a large session', () => {
  verifies('sessions.large', async () => {
    await using service = await RunningService.start({ yaml: SCRIPTED });
    const message = `😀 "hello" ${'x'.repeat(2 * MEGABYTE)}`;
    await service.post('/api/message-sync', { sessionId: 'a', message });
    for (const path of ['/api/sessions/a', '/api/sessions/a/events']) {
      const response = await service.fetch(path);
      expect(response.headers.get('Content-Type')).toBe('application/json');
      expect(response.headers.get('Content-Length')).toBe(null);
      const text = await response.text();
      expect(text.includes(JSON.stringify(message))).toBe(true);
      expect(JSON.stringify(JSON.parse(text)) === text).toBe(true);
    }
  });
});
