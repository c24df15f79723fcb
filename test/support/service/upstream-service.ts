import { OpenAiUpstream } from '../models/openai-upstream.ts';
import { type RecordingLog, recordingLog } from '../telemetry/recording-log.ts';
import { RunningService } from './running-service.ts';

export const KEY = 'sk-e2e-5d41402abc4b2a76';
export const SYSTEM_PROMPT = 'system-prompt-4d5e';

/** The service in front of an upstream of the test's own, its log recorded. */
export class UpstreamService implements AsyncDisposable {
  readonly upstream: OpenAiUpstream;
  readonly service: RunningService;
  readonly log: RecordingLog;

  private constructor(upstream: OpenAiUpstream, service: RunningService, log: RecordingLog) {
    this.upstream = upstream;
    this.service = service;
    this.log = log;
  }

  static async open(llm: object = {}, more: object = {}): Promise<UpstreamService> {
    const upstream = await OpenAiUpstream.listen();
    const log = recordingLog();
    const agent = {
      systemPrompt: SYSTEM_PROMPT,
      llm: { provider: 'openai', model: 'gpt-test', baseURL: upstream.baseURL, apiKey: '$E2E_KEY', ...llm },
      limits: { requestsPerMinute: false, messagesPerMinute: false },
      server: { drainTimeoutMs: 0 },
      ...more,
    };
    const service = await RunningService.start({
      yaml: JSON.stringify(agent),
      environment: { E2E_KEY: KEY },
      log,
    });
    return new UpstreamService(upstream, service, log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close();
    await this.upstream[Symbol.asyncDispose]();
  }
}
