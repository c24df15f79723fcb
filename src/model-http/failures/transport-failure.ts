import type { ProviderEndpoint } from '../provider/provider-endpoint.ts';
import { ModelFailure, originOf } from './model-failure.ts';

/** The failure of a request that did not reach the provider, or whose answer did not arrive. */
export function transportFailure(access: ProviderEndpoint, thrown: unknown): ModelFailure {
  const source = systemError(thrown);
  const reason = transportReason(access, source?.code);
  return new ModelFailure(access, reason, { isPassing: true, cause: source });
}

function transportReason(access: ProviderEndpoint, code: string | undefined): string {
  const { label } = access;
  const origin = originOf(access);
  switch (code) {
    case 'ECONNREFUSED':
      return `Nothing listens at ${origin}: start ${label} there, or correct llm.baseURL.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of ${origin} could not be found: check llm.baseURL and the network's DNS.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${origin} could not be reached: check llm.baseURL, the network and its firewall or proxy.`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `${label} closed the connection before its answer was complete. Try again.`;
  }
  if (code !== undefined && /CERT|SELF_SIGNED|TLS|SSL|UNABLE_TO/.test(code)) {
    return `No secure connection to ${origin}: its certificate is not trusted (${code}). Check llm.baseURL.`;
  }
  return `The connection to ${label} failed${code === undefined ? '' : ` (${code})`}. Check llm.baseURL and try again.`;
}

/**
 * The operating system's error, from the chain of causes. The other errors are dropped, because they may quote the
 * request and the cause is logged.
 */
function systemError(thrown: unknown): (Error & { code: string }) | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return Object.assign(error, { code: error.code });
  }
  return undefined;
}
