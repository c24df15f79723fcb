import { ApiError, errorText } from '../service/api-error.ts';
import type { Provider } from './provider.ts';

/** Errors of RFC 6749 and OpenID Connect that a reader can do something about. */
const meanings: Readonly<Record<string, string>> = {
  access_denied: 'The sign-in was refused or given up.',
  login_required: 'You are not signed in there any more.',
  consent_required: 'You have not agreed to the sign-in.',
  interaction_required: 'It wants to ask you something. Try again.',
  invalid_client: 'It does not know this console. An administrator must check auth.console.clientId.',
  unauthorized_client:
    'It does not let this console sign people in. An administrator must check the client there.',
  invalid_scope:
    'It does not know what the console asks for. An administrator must check auth.console.scope.',
  invalid_target: 'It does not know the resource. An administrator must check auth.console.parameters.',
  invalid_grant: 'The sign-in took too long, or was used already. Try again.',
  server_error: 'It has failed. Try again later.',
  temporarily_unavailable: 'It is overloaded. Try again later.',
};

/** Why the sign-in has failed, for people. */
export function providerProblem(error: unknown, { name, issuer }: Provider): Error {
  return new Error(textOf(error, { name, issuer }), { cause: error });
}

function textOf(error: unknown, { name, issuer }: Pick<Provider, 'name' | 'issuer'>): string {
  if (error instanceof ApiError) {
    return `${name} has signed you in, but this service does not accept its token: ${errorText(error)}`;
  }
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'ErrorResponse' && 'error' in error) {
    const meaning = meanings[String(error.error)];
    const own = error.message === error.error ? '' : ` It says: ${error.message}`;
    return `${name} did not sign you in (${error.error}). ${meaning ?? ''}${own}`.trim();
  }
  // The browser does not tell a provider that is away from one that does not allow this origin.
  if (error.name === 'ErrorTimeout' || error instanceof TypeError) {
    return `${name} does not answer at ${issuer}. It may be away, or not allow requests of ${window.location.origin}.`;
  }
  if (error.message.includes('No matching state')) {
    return 'This answer belongs to no sign-in of this tab, or to one that is too old. Try again.';
  }
  return `The sign-in through ${name} has failed: ${error.message}`;
}
