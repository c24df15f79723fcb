import { describe, expect, it } from 'vitest';
import { parseFields } from '../../../../src/gateway/requests/request-fields.ts';
import { CreateGrantRequest } from '../../../../src/wire/grants.ts';
import { MessageSyncRequest, StreamQuery } from '../../../../src/wire/requests.ts';

describe('a field that is missing', () => {
  const imageData = { base64: Buffer.from('<svg></svg>...').toString('base64') };

  it.each([
    [
      MessageSyncRequest,
      { message: 'look', imageData },
      'imageData.mimeType',
      /^is needed, because the first/,
    ],
    [StreamQuery, { offset: '5' }, 'after', /^is needed together with offset$/],
    [StreamQuery, { time: '1', reasoning: '1' }, 'after', /^is needed together with time$/],
    [StreamQuery, { statecharts: '1' }, 'after', /^is needed together with statecharts$/],
    [CreateGrantRequest, { access: 'read' }, 'principal', /^must be given, or else role/],
  ])('has the reason why it is needed, if it is not always: %#', (schema, value, field, issue) => {
    expect(() => parseFields(schema, value)).toThrow(
      expect.objectContaining({
        code: 'MISSING_FIELD',
        message: expect.stringMatching(`The field ${field} is required: it `),
        details: { field, issue: expect.stringMatching(issue), suggestion: `Add ${field} to the request.` },
      }),
    );
  });

  it('is not missed by a parameter that is switched off', () => {
    const off = { session: 's', time: '0', statecharts: '0' };
    expect(parseFields(StreamQuery, off)).toMatchObject({ session: 's', time: 0 });
    const resuming = { after: '0', time: '1', statecharts: '1', offset: '5' };
    expect(parseFields(StreamQuery, resuming)).toMatchObject({ after: 0, offset: 5 });
  });

  it('has no reason if it always is', () => {
    expect(() => parseFields(MessageSyncRequest, {})).toThrow(
      expect.objectContaining({
        message: 'The field message is required.',
        details: { field: 'message', suggestion: 'Add message to the request.' },
      }),
    );
  });
});
