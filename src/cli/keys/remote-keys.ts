import { CreateKeyResponse, KeysResponse, RevokeKeyResponse } from '../../wire/api-keys.ts';
import type { RemoteService } from '../service/remote-service.ts';
import { readAnswer } from '../service/request-service.ts';
import type { KeyAdministration } from './key-administration.ts';

/** The API keys of a running service: those of the tenant of the token. */
export function remoteKeys(service: RemoteService): KeyAdministration {
  return {
    async create({ name, roles, tenant, expiresAt }, show) {
      const expiry = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
      const body = { name, roles, ...(tenant !== undefined && { tenant }), ...expiry };
      const answer = await readAnswer(service, { path: 'api/keys', method: 'POST', body }, CreateKeyResponse);
      const { key, timestamp, ...record } = answer;
      await show({ key, record: { ...record, status: 'active' } });
    },
    async list() {
      const { keys } = await readAnswer(service, 'api/keys', KeysResponse);
      return keys;
    },
    async revoke(keyId) {
      const path = `api/keys/${encodeURIComponent(keyId)}`;
      const { timestamp, ...record } = await readAnswer(
        service,
        { path, method: 'DELETE' },
        RevokeKeyResponse,
      );
      return record;
    },
  };
}
