import type { Given } from '../config/given.ts';
import type { Flags } from '../config/settings.ts';
import type { AuditOptions } from './audit/audit-command.ts';
import type { BackupOptions } from './backup/backup-command.ts';
import type { ChatOptions } from './chat/chat-command.ts';
import type { CheckOptions } from './check/check-command.ts';
import type { CopyOptions } from './copy/copy-command.ts';
import type { InitOptions } from './init/init-command.ts';
import type { KeysOptions } from './keys/keys-command.ts';
import type { LogPlace, LogSource } from './log/log-place.ts';

/** Where `replay` finds a session: in a log or in an exported file. */
export type RecordingPlace =
  | { readonly log: LogPlace; readonly sessionId: string }
  | { readonly file: string };

/** A parsed command line. `exit` only prints: help, version or an error. */
export type CommandLine =
  | {
      readonly kind: 'run';
      readonly flags: Flags;
      /** What `--agent` or `AGENT_SERVICE_AGENT` names. */
      readonly agentFile: Given | undefined;
      readonly serviceFile: string | undefined;
    }
  | { readonly kind: 'repair'; readonly dataDir: string; readonly dryRun: boolean }
  | { readonly kind: 'sessions'; readonly log: LogPlace }
  | { readonly kind: 'export'; readonly log: LogPlace; readonly sessionId: string }
  | ({ readonly kind: 'chat' } & ChatOptions)
  | ({ readonly kind: 'init' } & InitOptions)
  | ({ readonly kind: 'check' } & CheckOptions)
  | ({ readonly kind: 'backup' } & BackupOptions)
  | ({ readonly kind: 'copy' } & CopyOptions)
  | ({ readonly kind: 'keys' } & KeysOptions)
  | ({ readonly kind: 'audit' } & AuditOptions)
  | {
      readonly kind: 'import';
      readonly log: LogSource;
      readonly file: string;
      readonly sessionId: string | undefined;
    }
  | {
      readonly kind: 'replay';
      readonly recording: RecordingPlace;
      /** The agent whose model answers instead of the recording; left out for a replay without a model. */
      readonly agentFile?: string;
      readonly json: boolean;
    }
  | { readonly kind: 'example-tools' }
  | {
      readonly kind: 'exit';
      readonly code: number;
      readonly output: string;
      readonly stream: 'stdout' | 'stderr';
    };

/** Receives the command that the command line names. */
export type Choose = (command: CommandLine) => void;
