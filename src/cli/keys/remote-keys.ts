import { CreateKeyResponse, KeysResponse, RevokeKeyResponse } from '../../wire/api-keys.ts';
import { readAnswer } from '../service/request-service.ts';
import type { KeyAdministration } from './key-administration.ts';

/** The API keys of a running service: those of the tenant of the token. */
export function remoteKeys(url: string, token: string | undefined): KeyAdministration {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    // Does not show the text, because it may be a key with something beside it.
    throw new Error('--key: found text that no header can have; expected a key such as as_…');
  return {
    async create({ name, roles, tenant, expiresAt }) {
      const expiry = expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() };
      const body = { name, roles, ...(tenant !== undefined && { tenant }), ...expiry };
      const answer = await readAnswer(
        url,
        { path: 'api/keys', method: 'POST', body, token },
        CreateKeyResponse,
      );
      const { key, timestamp, ...record } = answer;
      return { key, record: { ...record, status: 'active' } };
    },
    async list() {
      const { keys } = await readAnswer(url, { path: 'api/keys', token }, KeysResponse);
      return keys;
    },
    async revoke(keyId) {
      const path = `api/keys/${encodeURIComponent(keyId)}`;
      const { timestamp, ...record } = await readAnswer(
        url,
        { path, method: 'DELETE', token },
        RevokeKeyResponse,
      );
      return record;
    },
  };
}
