import { describe, expect, it } from 'vitest';
import { failureText } from '../../../src/adapters/mcp/failure/failure-text.ts';
import { JsonRpcError, MCP_CODES } from '../../../src/core/json-rpc.ts';

const mask = (text: string): string => text.replaceAll('hush', '***');

function required(elicitations: unknown): string {
  const error = new JsonRpcError(MCP_CODES.urlElicitationRequired, 'MCP error -32042: Authorization needed', {
    elicitations,
  });
  return failureText(error, mask);
}

describe('the reason of a call before which a person must open an address', () => {
  const visit = {
    mode: 'url',
    elicitationId: 'e1',
    message: 'Log in',
    url: 'http://127.0.0.1:8/in?key=hush',
  };

  it('has what to do and where', () => {
    expect(required([visit, { ...visit, message: 'Pay', url: 'https://pay.example.com/' }])).toBe(
      'Authorization needed\nLog in (http://127.0.0.1:8/in?key=***)\nPay (https://pay.example.com/)',
    );
  });

  it('is bounded, and still has the address', () => {
    const text = required([{ ...visit, message: 'x'.repeat(5_000) }, ...Array(100).fill(visit)]);
    expect(text.length).toBeLessThanOrEqual(2_100);
    expect(text).toContain('(http://127.0.0.1:8/in?key=***)');
  });

  it.each([[undefined], ['none'], [[{ message: 'Log in' }]], [[{ ...visit, url: 'javascript:alert(1)' }]]])(
    'is what the server said if it gives no address to open: %j',
    (elicitations) => {
      expect(required(elicitations)).toBe('Authorization needed');
    },
  );
});
