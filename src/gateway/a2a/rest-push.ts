import type { HttpResponse } from '../../ports/web-server.ts';
import type { A2aCall } from './a2a-call.ts';
import { type PushConfigRequest, SentPushConfig } from './a2a-requests.ts';
import { checkVersion } from './a2a-version.ts';
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from './push-configs.ts';
import { sentBody, shown } from './rest.ts';

/* The configs for push notifications in the HTTP+JSON binding. */

export async function postConfig(call: A2aCall, taskId: string): Promise<HttpResponse> {
  const sent = await sentBody(call, SentPushConfig);
  return shown(await createPushConfig(call, { ...sent, taskId }));
}

export async function showConfigs(call: A2aCall, taskId: string): Promise<HttpResponse> {
  checkVersion(call.request);
  return shown(await listPushConfigs(call, { taskId }));
}

export async function showConfig(call: A2aCall, asked: PushConfigRequest): Promise<HttpResponse> {
  checkVersion(call.request);
  return shown(await getPushConfig(call, asked));
}

export async function dropConfig(call: A2aCall, asked: PushConfigRequest): Promise<HttpResponse> {
  checkVersion(call.request);
  return shown(await deletePushConfig(call, asked));
}
