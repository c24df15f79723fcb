import { z } from 'zod';
import type { RemoteService } from './remote-service.ts';
import { isUnknownPath, readAnswer, requestService, ServiceRefusal } from './request-service.ts';

const ADVICE =
  'this service authenticates nobody: start it with a service file with auth, such as --config service.yml with "auth: {apiKeys: true}"';

/** Asks for what only a service with authentication has. Without it, the path is unknown, and the error says why. */
export async function askWithAuth<T>(service: RemoteService, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (hasNoPath(error) && (await authenticatesNobody(service))) throw new Error(ADVICE, { cause: error });
    throw error;
  }
}

/** In mode mcp, a service has neither of these paths, whether it authenticates clients or not. */
async function authenticatesNobody(service: RemoteService): Promise<boolean> {
  const [whoami, agent] = await Promise.allSettled([
    requestService(service, 'api/whoami'),
    readAnswer(service, 'api/agent', z.unknown()),
  ]);
  return whoami.status === 'rejected' && hasNoPath(whoami.reason) && agent.status === 'fulfilled';
}

function hasNoPath(error: unknown): boolean {
  return error instanceof ServiceRefusal && isUnknownPath(error.issue);
}
