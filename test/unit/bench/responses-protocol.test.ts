import { describe, expect, it } from 'vitest';
import { responseReplies } from '../../../bench/support/responses-protocol.ts';
import { ResponseLog } from '../../../src/gateway/openai/responses/response-log.ts';
import { begunResponse } from '../../../src/gateway/openai/responses/response-object.ts';

const place = { agentId: 'default', sessionId: 's', turnId: 't', firstStep: 1 };

describe('a stream of a response, for the benches', () => {
  it('has all texts, still escaped, and nothing else', () => {
    const text = 'The é"nd ","logprobs":[],"sequence_number":1 \n event: error "delta":" chunk';
    const events: string[] = [];
    const begun = begunResponse(place, {}, { createdAt: 0, previous: null });
    const log = new ResponseLog(begun, (type, json) => events.push(`event: ${type}\ndata: ${json}`));
    log.tell('response.created');
    log.say('msg_1', text);
    log.endMessage('completed');
    log.tell('response.completed');
    const texts = events
      .map((event) => responseReplies.textOf(event))
      .filter((piece): piece is string => piece !== null);
    expect(JSON.parse(`"${texts.join('')}"`)).toBe(text);
    expect(texts.length).toBeGreaterThan(5);
    expect(events.filter((event) => responseReplies.isFailure(event))).toEqual([]);
  });

  it('says that it has failed', () => {
    expect(responseReplies.isFailure('event: response.failed\ndata: {}')).toBe(true);
    expect(responseReplies.isFailure('event: error\ndata: {}')).toBe(true);
  });
});
