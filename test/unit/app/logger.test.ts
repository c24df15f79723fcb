import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createJsonLogger, createLogger } from '../../../src/app/logger.ts';
import { ServiceError } from '../../../src/core/errors.ts';

const KEY = 'sk-proj-5d41402abc4b2a76';
const URL_SECRET = 'postgres://me:hunter2@db/app';

function written() {
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  return { lines, output };
}

describe('the log', () => {
  it('is no reason to end when its terminal is closed', async () => {
    const terminal = Object.assign(new EventEmitter(), { isTTY: true, write: () => true });
    await createLogger('info', terminal);
    expect(() => terminal.emit('error', new Error('write EIO'))).not.toThrow();
  });

  it('is JSON lines with the fields as they are', () => {
    const { lines, output } = written();
    createJsonLogger('info', output).warn({ sessionId: 's', turnId: 't', step: 2 }, 'a turn "failed"');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 40,
      time: expect.any(Number),
      sessionId: 's',
      turnId: 't',
      step: 2,
      msg: 'a turn "failed"',
    });
  });

  it('holds no secret of a known shape: not in fields, messages, errors, their causes and details', () => {
    const { lines, output } = written();
    const log = createJsonLogger('debug', output);
    const cause = new Error(`401 for ${KEY}`);
    const error = new ServiceError('AGENT_ERROR', 'No.', { reason: 'x' }, cause);
    log.error({ err: error }, 'failed');
    log.error({ err: `thrown as text: ${URL_SECRET}` }, 'failed');
    log.info(
      { reason: `cannot reach "${URL_SECRET}"`, line: `key=${KEY}` },
      `turn failed: ${KEY} ${URL_SECRET}`,
    );
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
      expect(line).toContain('***REDACTED***');
      expect(line).not.toMatch(/5d41402abc4b2a76|hunter2/);
    }
  });

  it('of a level says nothing below it', () => {
    const { lines, output } = written();
    const log = createJsonLogger('warn', output);
    log.info({}, 'quiet');
    log.warn({}, 'loud');
    expect(lines).toHaveLength(1);
  });
});

describe('the log of a process', () => {
  it('is one readable line, with its ids, where a terminal reads it', async () => {
    const { lines, output } = written();
    const log = await createLogger('info', { ...output, isTTY: true });
    log.warn({ sessionId: 'mine', turnId: 't-1' }, 'turn failed');
    log.debug({}, 'quiet');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^\[\d\d:\d\d:\d\d\] WARN: turn failed\n {4}sessionId: "mine"\n {4}turnId: "t-1"\n$/,
    );
  });

  it('has colours where the terminal has them', async () => {
    const { lines, output } = written();
    const log = await createLogger('info', { ...output, isTTY: true, hasColors: () => true });
    log.warn({}, 'turn failed');
    expect(lines[0]).toContain('\u001b[33m');
  });
});
