import type { AgentId, AgentListItem, AgentReload } from '../../core/agent-description.ts';
import { ServiceError } from '../../core/errors.ts';
import { messageOf } from '../../core/thrown.ts';
import { noSuchAgent } from '../../gateway/agents/agent-choice.ts';
import type { Logger } from '../../ports/logger.ts';
import type { AgentDirectory } from '../../runtime/requests/agent-requests.ts';
import { SerialQueue } from '../../timing/serial-queue.ts';
import type { Agent } from '../agent.ts';
import { sectionsForRestart } from './fixed-sections.ts';
import type { HostedFile, ReadAgain } from './hosted-agents.ts';

interface ReloadDeps {
  readonly readAgain: ReadAgain;
  readonly log: Logger;
}

const SAME_SERVERS = { added: [], changed: [], removed: [] };

/** Lists the agents of the service, and reads their files again. */
export class ReloadableAgents implements AgentDirectory {
  readonly #files: readonly HostedFile[];
  readonly #agents: ReadonlyMap<AgentId, Agent>;
  readonly #deps: ReloadDeps;
  readonly #reloads = new SerialQueue();

  constructor(files: readonly HostedFile[], agents: ReadonlyMap<AgentId, Agent>, deps: ReloadDeps) {
    this.#files = files;
    this.#agents = agents;
    this.#deps = deps;
  }

  list(): AgentListItem[] {
    return [...this.#agents].map(([agentId, { identity, modelLabel, agentVersion }], index) => ({
      agentId,
      isDefault: index === 0,
      ...identity,
      model: modelLabel,
      agentVersion,
    }));
  }

  /** One after the other, so that the last one that was asked for is the last one that is read. */
  reload(agentId: AgentId): Promise<AgentReload> {
    return this.#reloads.run(() => this.#reload(agentId));
  }

  async reloadAll(): Promise<void> {
    const { log } = this.#deps;
    for (const { id: agentId, file } of this.#files) {
      try {
        await this.reload(agentId);
      } catch (error) {
        const { reason } = error instanceof ServiceError ? error.details : { reason: messageOf(error) };
        log.error({ agentId, agentFile: file, reason }, 'the agent was not reloaded, and is as it was');
      }
    }
  }

  async #reload(agentId: AgentId): Promise<AgentReload> {
    const agent = this.#agents.get(agentId);
    const listed = this.#files.find(({ id }) => id === agentId);
    if (!agent || !listed) throw noSuchAgent(agentId, [...this.#agents.keys()]);
    const read = await this.#read(listed);
    const { agentVersion } = read;
    const configs = { started: listed.loaded.config, now: read.config };
    const needRestart = sectionsForRestart(configs, { isFirst: listed === this.#files[0] });
    if (agentVersion === agent.agentVersion)
      return { status: 'unchanged', agentId, agentVersion, servers: SAME_SERVERS, needRestart };
    const taken = agent.takeOver(read);
    const { log } = this.#deps;
    log.info({ agentId, ...taken }, 'the agent was reloaded: turns that begin now run with its new version');
    if (needRestart.length > 0)
      log.warn({ agentId, sections: needRestart }, 'these sections count from the next start on');
    return { status: 'reloaded', agentId, ...taken, needRestart };
  }

  async #read({ id: agentId, file }: HostedFile): ReturnType<ReadAgain> {
    try {
      return await this.#deps.readAgain(file);
    } catch (error) {
      throw new ServiceError(
        'INVALID_REQUEST',
        `The file of the agent ${agentId} is not valid. The agent is as it was.`,
        { agentId, reason: messageOf(error), suggestion: 'Correct the file and reload the agent again.' },
        error,
      );
    }
  }
}
