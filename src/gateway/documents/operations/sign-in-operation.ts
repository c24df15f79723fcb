import { SignInResponse } from '../../../wire/sign-in.ts';
import { JSON_TYPE, type Operation, ok } from './operation.ts';

/** Only where clients are authenticated. */
export const signInOperation: Operation = {
  id: 'signInWays',
  scope: 'open',
  method: 'GET',
  path: '/api/sign-in',
  tag: 'Access',
  summary: 'How people sign in to the console',
  description: 'With an API key, or through an OpenID Connect provider (authorization code with PKCE).',
  answers: { [JSON_TYPE]: SignInResponse },
  errors: [],
  examples: [{ name: 'keys', summary: 'With an API key only', answer: ok({ apiKeys: true }) }],
};
