import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OpenAiModelHarness } from '../../support/models/openai-model-harness.ts';
import { errorReply, textReply, type UpstreamReply } from '../../support/models/openai-upstream.ts';

/** The waits between attempts, which nobody sits out. */
const waits: number[] = [];

beforeEach(() => {
  waits.length = 0;
  vi.spyOn(timers, 'setTimeout').mockImplementation((ms, value) => {
    waits.push(ms ?? 0);
    return Promise.resolve(value);
  });
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  vi.useRealTimers();
});

const busy = errorReply(503);
const times = (count: number, reply: UpstreamReply): UpstreamReply[] => Array(count).fill(reply);
const asking = (headers: Record<string, string>, status = 429): UpstreamReply => ({
  status,
  headers,
  body: { error: { message: 'slow down' } },
});

/** How Gemini says which limits are exceeded: https://github.com/RooCodeInc/Roo-Code/issues/3883 */
function quotaReply(...quotaIds: string[]): UpstreamReply {
  const message =
    'You exceeded your current quota, please check your plan and billing details. ' +
    'For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.';
  const details = [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: quotaIds.map((quotaId) => ({ quotaId })),
    },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '26s' },
  ];
  return { status: 429, body: { error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details } } };
}

/** @param chance between 0 and 1: what it adds to the least wait. */
function chanceAdds(chance: number): void {
  vi.spyOn(Math, 'random').mockReturnValue(chance);
}

describe('the waits of a model call that is repeated', () => {
  const longest = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000, 8_000, 8_000];

  it.each([
    ['most', 1, 1],
    ['least', 0, 0.5],
    ['half', 0.5, 0.75],
  ])('double from half a second to eight seconds, where chance adds the %s', async (_what, chance, part) => {
    chanceAdds(chance);
    await using harness = await OpenAiModelHarness.open(...times(11, busy));
    await harness.fail({ config: { maxRetries: 10 } });
    expect(waits).toEqual(longest.map((ms) => ms * part));
    expect(harness.upstream.requests).toHaveLength(11);
  });

  it('are as many as llm.maxRetries', async () => {
    chanceAdds(1);
    await using harness = await OpenAiModelHarness.open(...times(5, busy));
    await harness.fail({ config: { maxRetries: 0 } });
    expect(waits).toEqual([]);
    await harness.fail({ config: { maxRetries: 3 } });
    expect(waits).toEqual([500, 1_000, 2_000]);
  });

  it('begin anew with each call, after a success and after a failure', async () => {
    chanceAdds(1);
    await using harness = await OpenAiModelHarness.open(
      ...[...times(2, busy), textReply('fine')],
      ...[...times(3, busy), ...times(1, busy)],
    );
    const model = { maxRetries: 2 };
    await harness.ask({ config: model });
    await harness.fail({ config: model });
    await harness.ask({ config: model });
    expect(waits).toEqual([500, 1_000, 500, 1_000, 500]);
  });
});

describe('what a provider says about the wait', () => {
  it.each<[string, Record<string, string>, number]>([
    ['in seconds', { 'retry-after': '7' }, 7_000],
    ['in parts of a second', { 'retry-after': '0.25' }, 250],
    ['as none at all', { 'retry-after': '0' }, 0],
    ['in milliseconds, which are the more precise', { 'retry-after': '9', 'retry-after-ms': '1234' }, 1_234],
    [
      'in seconds, where the milliseconds are no number',
      { 'retry-after': '3', 'retry-after-ms': 'soon' },
      3_000,
    ],
    ['as the longest that is waited', { 'retry-after': '30' }, 30_000],
    ['as a date that has passed', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  ])('%s is what is waited, without chance', async (_how, headers, expected) => {
    await using harness = await OpenAiModelHarness.open(asking(headers));
    await harness.ask();
    expect(waits).toEqual([expected]);
  });

  it('as a date is counted from now', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 0, 0, 0) });
    const date = 'Thu, 01 Jan 2026 00:00:12 GMT';
    await using harness = await OpenAiModelHarness.open(asking({ 'retry-after': date }));
    await harness.ask();
    expect(waits).toEqual([12_000]);
  });

  it('in the body, as Google does, is what is waited', async () => {
    const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '4.5s' }] } };
    await using harness = await OpenAiModelHarness.open({ status: 429, body });
    await harness.ask();
    expect(waits).toEqual([4_500]);
  });

  it('is waited for the limit of a minute, which Google calls a quota as it does that of a day', async () => {
    const minute = 'GenerateContentInputTokensPerModelPerMinute-FreeTier';
    await using harness = await OpenAiModelHarness.open(quotaReply(minute));
    await harness.ask();
    expect(waits).toEqual([26_000]);
    expect(harness.upstream.requests).toHaveLength(2);
  });

  it('is not waited when the limit of a day is exceeded, too', async () => {
    const minute = 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier';
    const day = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';
    await using harness = await OpenAiModelHarness.open(quotaReply(minute, day));
    await harness.fail();
    expect(waits).toEqual([]);
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it.each([
    ['neither a number nor a date', 'later'],
    ['nothing', ''],
    ['a negative number', '-1'],
    ['without an end', 'Infinity'],
  ])('is not understood when it is %s', async (_what, value) => {
    chanceAdds(1);
    await using harness = await OpenAiModelHarness.open(...times(2, asking({ 'retry-after': value })));
    await harness.ask();
    expect(waits).toEqual([500, 1_000]);
  });

  it('counts for one wait; the next is as if the first had been by chance', async () => {
    chanceAdds(1);
    const replies = [busy, asking({ 'retry-after': '20' }), busy];
    await using harness = await OpenAiModelHarness.open(...replies);
    await harness.ask({ config: { maxRetries: 3 } });
    expect(waits).toEqual([500, 20_000, 2_000]);
  });

  it.each(['30.001', '3600'])('is not waited for when it is %s seconds, but told', async (value) => {
    await using harness = await OpenAiModelHarness.open(asking({ 'retry-after': value }));
    const { details } = await harness.fail();
    expect(waits).toEqual([]);
    expect(harness.upstream.requests).toHaveLength(1);
    expect(details).toMatchObject({ status: 429, retryAfter: Math.ceil(Number(value)) });
  });

  it('does not repeat a request that would fail again', async () => {
    await using harness = await OpenAiModelHarness.open(asking({ 'retry-after': '1' }, 401));
    await harness.fail();
    expect(waits).toEqual([]);
  });
});

describe('a setting that is refused in the middle of a reply', () => {
  const error = { code: 'unsupported_value', param: 'temperature', status: 400, message: 'no' };
  const settings = { temperature: 0.7 };

  it('fails the call once text was passed on, which would be said again', async () => {
    await using harness = await OpenAiModelHarness.open(
      { stream: [{ text: 'Half' }, { error }] },
      textReply('all'),
    );
    const heard: string[] = [];
    await harness.fail({ request: { settings }, onText: (text) => void heard.push(text) });
    expect(heard).toEqual(['Half']);
    expect(harness.upstream.requests).toHaveLength(1);
  });

  it('is left out as long as nothing was', async () => {
    await using harness = await OpenAiModelHarness.open({ stream: [{ error }] }, textReply('all'));
    const { pieces } = await harness.ask({ request: { settings } });
    expect(pieces).toEqual(['all']);
    expect(harness.upstream.requests).toHaveLength(2);
  });
});
