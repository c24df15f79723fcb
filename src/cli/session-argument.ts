import { describeExpected } from '../config/problems/describe-expected.ts';
import { SessionId } from '../core/ids.ts';

/** @param name of the argument or option, for the message. */
export function parseSessionId(name: string, text: string): SessionId {
  const { data, error } = SessionId.safeParse(text);
  if (data !== undefined) return data;
  const expected = error?.issues.map(describeExpected).join(', ');
  throw new Error(`${name}: found ${JSON.stringify(text)}; expected ${expected}`);
}
