import { expect, it } from 'vitest';
import { requestBody } from '../../../src/model-http/http/request-body.ts';

it.each([
  ['the first half of a pair', 'cut \ud83d', 'cut \ufffd'],
  ['the second half', '\ude00 cut', '\ufffd cut'],
  ['halves in the wrong order', '\ude00\ud83d', '\ufffd\ufffd'],
  ['a half behind a backslash', '\\\ud83d', '\\\ufffd'],
  ['a whole pair', 'whole \u{1f600}', 'whole \u{1f600}'],
  ['the letters of an escape', 'text \\ud83d', 'text \\ud83d'],
  ['the letters of an escaped escape', 'text \\\\ud83d', 'text \\\\ud83d'],
])('the body of a request has no half of a surrogate pair: %s', (_what, given, sent) => {
  expect(JSON.parse(requestBody({ [given]: [given] }))).toEqual({ [sent]: [sent] });
});
