import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { BusAddress } from '../../config/addresses/bus-url.ts';
import { messageOf } from '../../core/thrown.ts';

/** Connects to one of the servers. Rejects if none can be reached. @param name for the servers' lists of connections. */
export function connectOnce(
  { servers, user, password, token, isTls }: BusAddress,
  name: string,
): Promise<NatsConnection> {
  return connect({
    servers: [...servers],
    name,
    timeout: 1_500,
    noEcho: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 400,
    reconnectJitterTLS: 400,
    // A server that says nothing is noticed after about two seconds.
    pingInterval: 1_000,
    maxPingOut: 2,
    // It may be a password that is being changed.
    ignoreAuthErrorAbort: true,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    ...(isTls && { tls: {} }),
  });
}

/** Whether trying again would not help. */
export function isCredentialRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthorizationError';
}

/** The error for the operator. */
export function explained(error: unknown, { shown }: BusAddress): Error {
  if (isCredentialRefusal(error))
    return new Error(`NATS at ${shown} refuses the user, password or token of --bus`, { cause: error });
  const reason = messageOf(error);
  return new Error(
    `NATS at ${shown} cannot be reached (${reason}): start nats-server there, or correct --bus`,
    {
      cause: error,
    },
  );
}
