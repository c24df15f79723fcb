import {
  type ConnectOptions,
  connect,
  type SessionClient,
  type SessionStatus,
} from '../../../src/client/session-client.ts';
import { FakeStreamService } from './fake-stream-service.ts';

export interface ClientRig {
  readonly service: FakeStreamService;
  readonly session: SessionClient;
  readonly statuses: SessionStatus[];
}

/** A client whose service is the test. Its ids are id1, id2 …, and its delays the longest. */
export function startClient(options: Partial<ConnectOptions> = {}): ClientRig {
  const service = new FakeStreamService();
  let ids = 0;
  const randomId = () => {
    ids += 1;
    return `id${ids}`;
  };
  const environment = { openSocket: service.openSocket, fetch: service.fetch, random: () => 1, randomId };
  const statuses: SessionStatus[] = [];
  const onStatus = (status: SessionStatus) => statuses.push(status);
  const session = connect({ url: 'http://host:1', session: 's', environment, onStatus, ...options });
  return { service, session, statuses };
}
