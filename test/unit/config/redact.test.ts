import { describe, expect, it } from 'vitest';
import {
  isSecretName,
  REDACTED,
  redactArgs,
  redactText,
  redactUrl,
} from '../../../src/config/export/redact.ts';

const R = REDACTED;

describe('names of secrets', () => {
  it.each([
    'token',
    'API_KEY',
    'apiKey',
    'X-Api-Key',
    'PGPASSWORD',
    'accessToken',
    'client-secret',
    'sig',
    'X-Amz-Signature',
    'Authorization',
    'auth',
    '--password',
    'GITHUB_TOKEN2',
    'sessionCookie',
    'AWS_SECRET_ACCESS_KEY',
  ])('%s is one', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    'max-tokens',
    'keyboard',
    'author',
    'key-file',
    'auth_type',
    'monkey',
    'design',
    'model',
    '',
    'token-limit',
  ])('%s is none', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('a URL', () => {
  it.each([
    ['http://me:pass@host/mcp', `http://${R}@host/mcp`],
    ['http://token@host', `http://${R}@host`],
    ['http://me:p@ss:w@host:80/a', `http://${R}@host:80/a`],
    ['postgres://me:pa/ss@host/db', `postgres://${R}@host/db`],
    ['http://$USER:$PASS@host/', `http://${R}@host/`],
    ['https://h/p?a=1&api_key=x&b=2', `https://h/p?a=1&api_key=${R}&b=2`],
    ['https://h/p?code=x', `https://h/p?code=${R}`],
    ['https://h/p#access_token=x&a=1', `https://h/p#access_token=${R}&a=1`],
    ['https://h/#/route?token=x', `https://h/#/route?token=${R}`],
    ['https://h/p?X-Amz-Signature=abc', `https://h/p?X-Amz-Signature=${R}`],
  ])('%s loses its credentials', (url, expected) => {
    expect(redactUrl(url)).toBe(expected);
    expect(redactUrl(expected)).toBe(expected);
    expect(URL.canParse(expected)).toBe(true);
  });

  it.each([
    'http://host:8080/a@b',
    'https://unpkg.com/x@1.2.3',
    'http://[::1]:80/x@y',
    'https://h/p?max_tokens=5&q=key',
    'https://h/p?token=',
  ])('%s stays as it is', (url) => {
    expect(redactUrl(url)).toBe(url);
  });
});

describe('a text', () => {
  it.each([
    ['see http://a:b@c and ftp://d:e@f', `see http://${R}@c and ftp://${R}@f`],
    ['key sk-proj-abc123DEF456 here', `key ${R} here`],
    ['ghp_abcdefgh12345678', R],
    ['github_pat_11ABCDEFG0abcdef', R],
    ['xoxb-123456789-abcdef', R],
    ['AKIAIOSFODNN7EXAMPLE', R],
    ['Authorization: Bearer abc.def-123', `Authorization: Bearer ${R}`],
    ['basic YWRtaW46cGFzczEyMw==', `basic ${R}`],
    ['(eyJhbGciOi.eyJzdWIiOi.c2ln-_x)', `(${R})`],
  ])('%s loses its secrets', (text, expected) => {
    expect(redactText(text)).toBe(expected);
    expect(redactText(expected)).toBe(expected);
  });

  it.each([
    'You are a basic assistant; the bearer understands.',
    'a task-management-system with risk-1234567890',
    'Say token=value to log in.',
    'sk-learn-pipelines',
    'https://example.com/basic/v2',
  ])('%s stays as it is', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe('the arguments of a command', () => {
  it.each([
    [['--token=abc def'], [`--token=${R}`]],
    [
      ['--api-key', 'abc', '--port', '80'],
      ['--api-key', R, '--port', '80'],
    ],
    [
      ['-token', '-abc'],
      ['-token', R],
    ],
    [
      ['--auth', '--port', '80'],
      ['--auth', '--port', '80'],
    ],
    [
      ['--auth', '-v', 'x'],
      ['--auth', '-v', 'x'],
    ],
    [
      ['-e', 'GITHUB_TOKEN=abc'],
      ['-e', `GITHUB_TOKEN=${R}`],
    ],
    [
      ['-H', 'X-Api-Key: abc'],
      ['-H', `X-Api-Key: ${R}`],
    ],
    [
      ['--header', 'Authorization: Basic abc'],
      ['--header', `Authorization: ${R}`],
    ],
    [['--header=Authorization: Basic abc'], [`--header=Authorization: ${R}`]],
    [['--url=https://me:pass@host/x?a=b'], [`--url=https://${R}@host/x?a=b`]],
    [['https://me:pa"ss@host/x'], [`https://${R}@host/x`]],
    [['https://host/x?token=a&b=c'], [`https://host/x?token=${R}&b=c`]],
    [['sk-abc'], [R]],
    [['--x=ghp_abc'], [`--x=${R}`]],
    [['Bearer abc'], [`Bearer ${R}`]],
    [['{"a":1,"token":"a,b","c":"d"}'], [`{"a":1,"token":"${R}","c":"d"}`]],
    [['TOKEN=abc node server.js'], [`TOKEN=${R}`]],
    [['cd x && TOKEN=abc node server.js --port 3'], [`cd x && TOKEN=${R} node server.js --port 3`]],
    [["curl -H 'Authorization: Basic abc' http://h"], [`curl -H 'Authorization: ${R}' http://h`]],
    [['server --api-key abc --port 3'], [`server --api-key ${R} --port 3`]],
  ])('%j lose their secrets', (args, expected) => {
    expect(redactArgs(args)).toEqual(expected);
    expect(redactArgs(expected)).toEqual(expected);
  });

  it.each([
    [['-y', '@modelcontextprotocol/server-memory', '/data']],
    [['--key-file', '/etc/key.pem', '--max-tokens', '5']],
    [['C:\\tools\\server.exe', 'https://unpkg.com/x@1']],
    [['{"mode":"fast"}', 'a=b', 'name: value', '--flag']],
  ])('%j stay as they are', (args) => {
    expect(redactArgs(args)).toEqual(args);
  });

  it.each(['?a=', 'a:a@', 'http://a:', 'a='])('that are long are not shown: %s…', (text) => {
    expect(redactArgs([text.repeat(100_000)])).toEqual([R]);
  });
});
