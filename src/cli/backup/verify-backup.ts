import { statSync } from 'node:fs';
import { logFile } from '../../adapters/sqlite/file/data-directory.ts';
import { viewReadOnly } from '../../adapters/sqlite/file/read-only.ts';
import { structuralDamage } from '../../adapters/sqlite/file/schema.ts';
import { holdsConversation } from '../../core/log/streams.ts';
import { messageOf } from '../../core/thrown.ts';
import type { EventStore } from '../../ports/event-store.ts';
import { withEventStore } from '../transfer/stored-log.ts';

export interface BackupContents {
  readonly sessions: number;
  readonly events: number;
  readonly bytes: number;
}

/** Reads every event of a copied log, which checks its checksum and its schema. Throws if anything is wrong. */
export async function verifyBackup(folder: string): Promise<BackupContents> {
  try {
    const findings = viewReadOnly(logFile(folder), structuralDamage);
    if (findings.length > 0) throw new Error(findings.join('; '));
    const contents = await withEventStore({ dataDir: folder }, 'read', readAll);
    return { ...contents, bytes: statSync(logFile(folder)).size };
  } catch (error) {
    throw new Error(`the copy in ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

async function readAll(store: EventStore): Promise<Pick<BackupContents, 'sessions' | 'events'>> {
  let [sessions, events] = [0, 0];
  for (const { sessionId } of await store.sessions()) {
    for await (const page of store.pages(sessionId, 0)) events += page.length;
    if (holdsConversation(sessionId)) sessions += 1;
  }
  return { sessions, events };
}
