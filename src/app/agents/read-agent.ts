import { type LoadedAgent, loadAgentFile } from '../../config/reading/agent-file.ts';
import type { Environment } from '../../config/reading/expand.ts';
import { accessProblems } from '../../model-http/provider/access-problems.ts';

/** Reads the file of an agent whose model will be called. Throws one `AgentFileError` with all problems of the file. */
export function readAgent(file: string, environment: Environment): LoadedAgent {
  return loadAgentFile(file, environment, accessProblems);
}
