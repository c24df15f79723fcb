import type { Flags } from '../config/settings.ts';
import type { ChatOptions } from './chat/chat-command.ts';
import type { CheckOptions } from './check/check-command.ts';
import type { InitOptions } from './init/init-command.ts';

/** Where a recorded session is. */
export type RecordingPlace =
  | { readonly dataDir: string; readonly sessionId: string }
  | { readonly file: string };

/** What the command line asks for. `exit` is all that ends before a service starts: help, version, errors. */
export type CommandLine =
  | { readonly kind: 'run'; readonly flags: Flags; readonly agentFile: string }
  | { readonly kind: 'repair'; readonly dataDir: string }
  | { readonly kind: 'sessions'; readonly dataDir: string }
  | { readonly kind: 'export'; readonly dataDir: string; readonly sessionId: string }
  | ({ readonly kind: 'chat' } & ChatOptions)
  | ({ readonly kind: 'init' } & InitOptions)
  | ({ readonly kind: 'check' } & CheckOptions)
  | {
      readonly kind: 'import';
      readonly dataDir: string;
      readonly file: string;
      readonly sessionId: string | undefined;
    }
  | {
      readonly kind: 'replay';
      readonly recording: RecordingPlace;
      /** The agent to ask anew; left out when the recording answers. */
      readonly agentFile?: string;
      readonly json: boolean;
    }
  | {
      readonly kind: 'exit';
      readonly code: number;
      readonly output: string;
      readonly stream: 'stdout' | 'stderr';
    };

/** Takes what a command of the command line asks for. */
export type Choose = (command: CommandLine) => void;
